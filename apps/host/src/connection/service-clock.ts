/** One exchange with the service: send and receive time (host's clock), and the service's time in the answer. */
export interface ClockSample {
  sentAt: number;
  receivedAt: number;
  serverTime: number;
}

export interface ServiceClock {
  /** Offset from the host's clock to the service's, in milliseconds; 0 before the first measurement. */
  readonly offsetMs: number;
  /** Returns the service's current time in epoch milliseconds. */
  now(): number;
  /** Converts a time of the host's clock to the service's clock. */
  toService(hostMs: number): number;
  addSample(sample: ClockSample): void;
}

interface Measurement {
  offsetMs: number;
  roundTripMs: number;
}

const rememberedSamples = 8;
/** Allowance for the drift of two clocks between samples, and for the rounding to whole milliseconds. */
const slackMs = 20;

/**
 * Follows the service's clock as NTP does: the offset of an exchange is wrong by at most half its round trip, so the
 * fastest recent exchange is the most precise. Two measurements that contradict each other mean that one of the clocks
 * was set.
 */
export function createServiceClock(readHostMs: () => number = Date.now): ServiceClock {
  let samples: Measurement[] = [];
  let offsetMs = 0;

  function add(sample: Measurement): void {
    const best = fastest(samples);
    if (best === undefined || excludes(best, sample)) {
      samples = [sample];
      offsetMs = sample.offsetMs;
      return;
    }
    samples = [...samples.slice(1 - rememberedSamples), sample];
    if (sample.roundTripMs < best.roundTripMs) offsetMs = sample.offsetMs;
    else offsetMs += ((fastest(samples) ?? best).offsetMs - offsetMs) / 4;
  }

  const toService = (hostMs: number): number => Math.max(0, Math.round(hostMs + offsetMs));
  return {
    get offsetMs() {
      return offsetMs;
    },
    now: () => toService(readHostMs()),
    toService,
    addSample({ sentAt, receivedAt, serverTime }) {
      const roundTripMs = receivedAt - sentAt;
      // Ignores a negative round trip: the host's clock was set back during the exchange.
      if (roundTripMs >= 0) add({ offsetMs: serverTime - (sentAt + receivedAt) / 2, roundTripMs });
    },
  };
}

function excludes(one: Measurement, other: Measurement): boolean {
  const distanceMs = Math.abs(one.offsetMs - other.offsetMs);
  return distanceMs > (one.roundTripMs + other.roundTripMs) / 2 + slackMs;
}

/** Returns the newest of the fastest samples. */
function fastest(samples: readonly Measurement[]): Measurement | undefined {
  let best: Measurement | undefined;
  for (const sample of samples) {
    if (best === undefined || sample.roundTripMs <= best.roundTripMs) best = sample;
  }
  return best;
}
