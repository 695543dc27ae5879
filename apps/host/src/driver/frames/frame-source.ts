import type { Duplex } from 'node:stream';

import { pause } from '../../time/time-limit.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';
import { toSocketDuplex } from '../uiautomator2/socket-duplex.ts';

/** Port on the phone from which the UiAutomator2 server sends its pictures. */
const port = 7810;
/**
 * Idle time in ms before the stream is closed. The phone takes pictures, which costs power, for as long as a client
 * listens.
 */
const idleMs = 10_000;

/**
 * Source of small JPEG pictures of the screen that the phone itself makes, one after the other, for as long as they are
 * requested.
 */
export interface FrameSource {
  /** Whether frames are coming: the first one takes half a second. */
  readonly isFlowing: boolean;
  /**
   * Returns the next frame, and starts the stream when no frames flow. Rejects when the signal aborts or the stream is
   * unavailable.
   */
  next(signal: AbortSignal): Promise<Buffer>;
  close(): void;
}

export function createFrameSource(shell: PhoneShell): FrameSource {
  const closed = new AbortController();
  let waiting: PromiseWithResolvers<Buffer> | undefined;
  let isRunning = false;
  let isFlowing = false;
  let wantedAt = 0;
  const run = async (): Promise<void> => {
    const socket = await shell.open(`tcp:${port}`, closed.signal);
    const stream = toSocketDuplex(socket);
    const end = (): void => void stream.destroy();
    closed.signal.addEventListener('abort', end, { once: true });
    stream.write('GET / HTTP/1.0\r\n\r\n');
    try {
      for await (const frame of readMjpeg(stream)) {
        isFlowing = true;
        waiting?.resolve(frame);
        waiting = undefined;
        if (performance.now() - wantedAt > idleMs) return;
      }
    } finally {
      closed.signal.removeEventListener('abort', end);
      stream.destroy();
    }
  };
  const start = (): void => {
    if (isRunning || closed.signal.aborted) return;
    isRunning = true;
    const end = (error: unknown): void => {
      isRunning = false;
      isFlowing = false;
      waiting?.promise.catch(() => {});
      waiting?.reject(error instanceof Error ? error : new Error('The phone sends no pictures'));
      waiting = undefined;
    };
    run().then(end, end);
  };
  return {
    get isFlowing() {
      return isFlowing;
    },
    async next(signal) {
      wantedAt = performance.now();
      waiting ??= Promise.withResolvers<Buffer>();
      const { promise } = waiting;
      promise.catch(() => {});
      start();
      const given = new AbortController();
      const frame = await Promise.race([
        promise,
        pause(2 ** 31 - 1, AbortSignal.any([signal, given.signal, closed.signal])),
      ]).finally(() => given.abort());
      if (frame !== undefined) return frame;
      throw signal.aborted ? signal.reason : new Error('The phone sends no pictures');
    },
    close: () => closed.abort(new Error('The UI helper was stopped')),
  };
}

// Limit in bytes above any frame of a phone. A nonsensical length must not exhaust the memory.
const maxFrameBytes = 16 * 1024 * 1024;
const maxHeadBytes = 64 * 1024;
const lengthForm = /content-length: *(\d+)\r\n\r\n/i;

/**
 * Yields the JPEG files of a multipart stream from the UiAutomator2 server. Ends when the stream breaks or has another
 * form.
 */
export async function* readMjpeg(stream: Duplex): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let gathered = 0;
  let needed = 0;
  for await (const chunk of stream) {
    if (!Buffer.isBuffer(chunk) && !(chunk instanceof Uint8Array)) return;
    pieces.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    gathered += chunk.byteLength;
    while (gathered > 0 && gathered >= needed) {
      let bytes = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
      if (needed === 0) {
        const head = lengthForm.exec(bytes.toString('latin1', 0, maxHeadBytes));
        if (head === null && gathered > maxHeadBytes) return;
        pieces = [bytes];
        if (head === null) break;
        needed = Number(head[1]);
        if (needed > maxFrameBytes) return;
        bytes = bytes.subarray(head.index + head[0].length);
      } else {
        yield bytes.subarray(0, needed);
        bytes = bytes.subarray(needed);
        needed = 0;
      }
      pieces = [bytes];
      gathered = bytes.length;
    }
  }
}
