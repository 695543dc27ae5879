import { Duplex } from 'node:stream';
import type { AdbSocket } from '@yume-chan/adb';
import { closeQuietly } from '../shell/phone-shell.ts';

/** Converts an ADB socket to a Node stream. */
export function toSocketDuplex(socket: AdbSocket): Duplex {
  const reader = socket.readable.getReader();
  const writer = socket.writable.getWriter();
  let isReading = false;
  const duplex: Duplex = new Duplex({
    read() {
      if (isReading) return;
      isReading = true;
      reader.read().then(
        ({ done, value }) => {
          isReading = false;
          if (done) duplex.destroy();
          else duplex.push(value);
        },
        (error: unknown) => duplex.destroy(asError(error)),
      );
    },
    write(chunk: Uint8Array, _encoding, callback) {
      writer.write(chunk).then(
        () => callback(),
        (error: unknown) => callback(asError(error)),
      );
    },
    destroy(error, callback) {
      reader.cancel().catch(() => {});
      writer.abort().catch(() => {});
      closeQuietly(socket);
      callback(error);
    },
  });
  // Ignores the error: readers learn of it by the end of the stream.
  duplex.on('error', () => {});
  return duplex;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
