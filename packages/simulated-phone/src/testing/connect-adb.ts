import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import {
  Adb,
  type AdbCredentialStore,
  AdbDaemonTransport,
  AdbPacket,
  AdbPacketSerializeStream,
} from '@yume-chan/adb';
import {
  Consumable,
  type ReadableStream,
  ReadableStream as Readable,
  StructDeserializeStream,
} from '@yume-chan/stream-extra';

const noKeys: AdbCredentialStore = {
  generateKey: () => Promise.reject(new Error('This test has no key.')),
  *iterateKeys() {},
};

function readableOf(socket: Socket): ReadableStream<Uint8Array> {
  return new Readable<Uint8Array>({
    start(controller) {
      socket.on('data', (chunk: Buffer) => controller.enqueue(chunk));
      socket.on('close', () => {
        try {
          controller.close();
        } catch {
          // The stream was cancelled before the socket closed.
        }
      });
    },
    cancel: () => void socket.destroy(),
  });
}

export interface ConnectedAdb {
  readonly adb: Adb;
  close(): Promise<void>;
}

/** Connects an independent ADB client to a phone, for tests. */
export async function connectAdb(
  port: number,
  credentialStore: AdbCredentialStore = noKeys,
): Promise<ConnectedAdb> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  const serializer = new AdbPacketSerializeStream();
  const sink = new Consumable.WritableStream<Uint8Array>({
    write: (chunk) => void socket.write(Buffer.from(chunk)),
  });
  void serializer.readable.pipeTo(sink).catch(() => {});
  const readable = readableOf(socket).pipeThrough(new StructDeserializeStream(AdbPacket));
  const transport = await AdbDaemonTransport.authenticate({
    serial: `127.0.0.1:${port}`,
    connection: { readable, writable: serializer.writable },
    credentialStore,
  });
  // The real adb terminates the name of a service with NUL, without which adbd can't parse a port number.
  const connectTo = transport.connect.bind(transport);
  transport.connect = (service) => connectTo(`${service}\0`);
  return {
    adb: new Adb(transport),
    async close() {
      await transport.close();
      socket.destroy();
    },
  };
}
