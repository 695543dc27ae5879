/** One exchange with the service: when the question left and the answer came (host's clock), and the time in the answer. */
export interface ClockSample {
  sentAt: number;
  receivedAt: number;
  serverTime: number;
}

export interface ServiceClock {
  /** Offset from the host's clock to the service's, in milliseconds. 0 until it was measured. */
  readonly offsetMs: number;
  /** The service's time now, epoch milliseconds. */
  now(): number;
  /** A time of the host's clock on the service's clock. */
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
 * Follows the service's clock as NTP does: the offset of one exchange is wrong by half its round trip at most, so the
 * fastest of the last exchanges says most. Two measurements that exclude each other mean that one of the clocks was set.
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

/** The newest of the fastest. */
function fastest(samples: readonly Measurement[]): Measurement | undefined {
  let best: Measurement | undefined;
  for (const sample of samples) {
    if (best === undefined || sample.roundTripMs <= best.roundTripMs) best = sample;
  }
  return best;
}
