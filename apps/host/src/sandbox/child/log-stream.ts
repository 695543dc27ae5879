import { maxLogMessageLength, type SandboxLogEntry, type SandboxLogRate } from '@phalanx/protocol';

import { shortened } from './shortened.ts';
import { createTokenBucket } from '../../time/token-bucket.ts';
import type { HostChannel } from './host-channel.ts';

/** Sends log entries in order. The promise of `write` is the back-pressure: the isolate stands still until it settles. */
export function createLogStream(channel: HostChannel, rate: SandboxLogRate) {
  const takeLines = createTokenBucket(rate.linesPerSecond, rate.burstLines);
  const takeBytes = createTokenBucket(rate.bytesPerSecond, rate.burstBytes);

  return {
    async write(entry: SandboxLogEntry): Promise<void> {
      const message = shortened(entry.message, maxLogMessageLength);
      channel.send({ type: 'log', entry: { ...entry, message } });
      const waitMs = Math.max(takeLines(1), takeBytes(Buffer.byteLength(message)));
      if (waitMs >= 1) await new Promise((resolve) => setTimeout(resolve, waitMs));
      await channel.drained();
    },
  };
}
