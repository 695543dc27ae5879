import type { PortHolds, PortOrders } from '@phalanx/automation';
import {
  type SandboxCommand,
  maxLogMessageLength,
  type SandboxLogEntry,
  type SandboxLogRate,
} from '@phalanx/protocol';

import { TokenBucket } from '../../time/token-bucket.ts';
import { type FailedEnd, isOutOfMemory, outOfMemory, uncaught } from '../run/run-end.ts';
import { explainedError } from './explained-error.ts';
import type { HostChannel } from './host-channel.ts';
import { shortened } from './shortened.ts';
import { createSourcePositions } from './source-positions.ts';

type Job = Extract<SandboxCommand, { type: 'job' }>;

/** Maximum length of the error that ends the run. Its log entry may be longer. */
const maxMessageLength = 4000;
const maxStackLength = 16_000;
const boundary = '\n    at (<isolated-vm boundary>)';
const notAnError = 'An object was thrown from supplied code within isolated-vm';

/** Creates the log of a run: its console and its last error, with positions in the user's files. */
export function createRunLog(job: Job, { channel, memoryMb }: { channel: HostChannel; memoryMb: number }) {
  const positions = createSourcePositions(job.sourceMap);
  const stream = createLogStream(channel, job.logRate);

  const uncaughtError = (error: PortOrders['uncaught']): FailedEnd => {
    const { message, text, at } = explainedError(error);
    const mapped = positions.mapText(text);
    const place = at === '' ? positions.firstPlaceIn(text) : positions.placeAt(at);
    void stream.write({ timestamp: Date.now(), level: 'error', ...place, message: mapped });
    if (isOutOfMemory(message)) return outOfMemory(memoryMb);
    return uncaught({
      message: shortened(positions.mapText(message), maxMessageLength),
      stack: stackIn(mapped),
    });
  };
  return {
    /** Resolves when the isolate may continue. */
    write: (...[level, message, at]: PortHolds['log']): Promise<void> =>
      stream.write({
        timestamp: Date.now(),
        level,
        ...positions.placeAt(at),
        message: positions.mapText(message),
      }),
    placeAt: (at: Parameters<typeof positions.placeAt>[0]) => positions.placeAt(at),
    uncaught: uncaughtError,
    /**
     * Converts the rejection of an entry into the isolate: an unhandled rejection of user code, or the memory limit.
     */
    failedEntry(error: unknown): FailedEnd {
      const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      if (message.startsWith('Error: Isolate ')) return outOfMemory(memoryMb);
      if (message.includes(notAnError)) return uncaughtError(rejectedWithObject);
      const stack = error instanceof Error ? String(error.stack).split(boundary)[0] : undefined;
      return uncaughtError({ message, text: `Uncaught ${stack ?? message}`, at: '' });
    },
  };
}

function stackIn(text: string): string | null {
  return text.includes('\n    at ') ? shortened(text.replace(/^Uncaught /, ''), maxStackLength) : null;
}

/** Stands in for a rejected object, which the isolate does not transfer. */
const rejectedWithObject = {
  message: 'A promise was rejected with an object that is not an Error, and nothing handled it.',
  text: 'Uncaught (in a promise) an object that is not an Error. Reject with an Error to see where.',
  at: '',
};

/** Sends log entries in order. The promise of `write` is the backpressure: the isolate is blocked until it settles. */
function createLogStream(channel: HostChannel, rate: SandboxLogRate) {
  const lines = new TokenBucket(rate.linesPerSecond, rate.burstLines);
  const bytes = new TokenBucket(rate.bytesPerSecond, rate.burstBytes);

  return {
    async write(entry: SandboxLogEntry): Promise<void> {
      const message = shortened(entry.message, maxLogMessageLength);
      channel.send({ type: 'log', entry: { ...entry, message } });
      const waitMs = Math.max(lines.take(1), bytes.take(Buffer.byteLength(message)));
      if (waitMs >= 1) await new Promise((resolve) => setTimeout(resolve, waitMs));
      await channel.drained();
    },
  };
}
