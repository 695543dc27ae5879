import { connect, type Socket } from 'node:net';
import { type Address, formatAddress } from '@phalanx/settings';
import { MaybeConsumable, PushReadableStream, tryClose } from '@yume-chan/stream-extra';
import type { AdbServerClient } from '@yume-chan/adb';
import { withTimeLimit } from '../time/time-limit.ts';

/**
 * Opens a socket without Nagle's delay (15 to 20 ms a request otherwise) and with TCP keep-alive, which detects phones
 * that vanish silently.
 */
export async function openTcpSocket(
  address: Address,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Socket> {
  const socket = connect({ ...address, noDelay: true, keepAlive: true, keepAliveInitialDelay: 10_000 });
  // 'close' reports the reason of a later failure. An unhandled 'error' would end the process.
  socket.on('error', () => {});
  const onTimeout = (): Error =>
    new Error(`${formatAddress(address)} did not accept a connection in ${timeoutMs} ms`);
  try {
    await withTimeLimit({ timeoutMs, signals: [signal], onTimeout }, () => connected(socket));
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function connected(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('The connection closed')));
  });
}

/**
 * Converts a socket to the web streams that Tango expects. Unlike Tango's own connector, ends the readable when the
 * socket breaks and leaves no half-open socket.
 */
export function toByteStreams(socket: Socket): AdbServerClient.ServerConnection {
  const closed = new Promise<undefined>((resolve) => socket.once('close', () => resolve(undefined)));
  return {
    readable: new PushReadableStream<Uint8Array>((controller) => {
      socket.on('data', (data: Buffer) => {
        socket.pause();
        void controller.enqueue(data).then(
          () => socket.resume(),
          () => socket.destroy(),
        );
      });
      socket.once('end', () => tryClose(controller));
      socket.once('close', () => tryClose(controller));
    }),
    writable: new MaybeConsumable.WritableStream<Uint8Array>({ write: (chunk) => writeTo(socket, chunk) }),
    closed,
    close: () => socket.destroySoon(),
  };
}

/** Resolves when the kernel has taken the bytes. */
export function writeTo(socket: Socket, ...chunks: Uint8Array[]): Promise<void> {
  return new Promise((resolve, reject) => {
    if (socket.destroyed) {
      reject(new Error('The connection is closed'));
      return;
    }
    socket.cork();
    chunks.forEach((chunk, index) => {
      const isLast = index === chunks.length - 1;
      socket.write(chunk, isLast ? (error) => (error ? reject(error) : resolve()) : undefined);
    });
    socket.uncork();
  });
}
