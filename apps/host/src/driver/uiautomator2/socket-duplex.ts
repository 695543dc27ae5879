import { Duplex } from 'node:stream';
import type { AdbSocket } from '@yume-chan/adb';
import { closeQuietly } from '../phone-shell.ts';

/** An ADB socket as a Node stream, so that node:http can speak over it. */
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
  // The peer's end destroys the stream: a server that closes a kept-alive connection must leave the pool at once.
  duplex.on('error', () => {});
  return Object.assign(duplex, netSocketMethods(duplex));
}

/** What node:http calls on the sockets of its pool. TCP's options mean nothing here. */
function netSocketMethods(
  duplex: Duplex,
): Record<'setKeepAlive' | 'setNoDelay' | 'setTimeout' | 'ref' | 'unref', () => Duplex> {
  const same = (): Duplex => duplex;
  return { setKeepAlive: same, setNoDelay: same, setTimeout: same, ref: same, unref: same };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
