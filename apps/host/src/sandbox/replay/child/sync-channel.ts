import { readSync, writeSync } from 'node:fs';
import type { ReplayCommand, ReplayReport } from '@phalanx/protocol';

import { encodeFrame } from '../../process/frames.ts';

/**
 * Standard input and output, which this process waits for: it does one thing at a time, and its isolate runs in its
 * own thread.
 */
export interface SyncChannel {
  /** Undefined when whoever started this process has gone. */
  receive(): ReplayCommand | undefined;
  send(report: ReplayReport): void;
}

export const syncChannel: SyncChannel = {
  receive() {
    const head = readExactly(4);
    const body = head && readExactly(head.readUInt32BE());
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- whoever starts this process is trusted
    return body && (JSON.parse(body.toString()) as ReplayCommand);
  },
  send(report) {
    const frame = encodeFrame(report);
    for (let sent = 0; sent < frame.length;) sent += writeSync(1, frame, sent);
  },
};

function readExactly(sizeBytes: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(sizeBytes);
  for (let done = 0; done < sizeBytes;) {
    const count = readSync(0, bytes, done, sizeBytes - done, null);
    if (count === 0) return undefined;
    done += count;
  }
  return bytes;
}
