/** Phones that violate ADB's rules for streams. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AdbCommand, type AdbPacketData, type AdbSocket } from '@yume-chan/adb';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { watchAddress } from './direct-tcp.ts';
import { loadHostKey } from './host-key.ts';
import type { AdbConnection, LinkSource } from './link.ts';
import { createPacketSplitter } from './packet-stream.ts';

let dataDir: string;
let server: Server;
let source: LinkSource | undefined;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'phalanx-streams-'));
});
afterEach(async () => {
  await source?.close();
  server.close();
  await rm(dataDir, { recursive: true, force: true });
});

type Send = (command: number, arg0: number, arg1: number, payload?: Uint8Array) => void;

/** Connects to a phone that accepts every stream and otherwise behaves as `onPacket` does. */
async function connectTo(onPacket: (packet: AdbPacketData, send: Send) => void): Promise<AdbConnection> {
  server = createServer((socket) => {
    socket.on('error', () => {});
    const send = sendTo(socket);
    const split = createPacketSplitter();
    socket.on('data', (data: Buffer) => {
      for (const packet of split(data)) {
        if (packet.command === AdbCommand.Connect)
          send(AdbCommand.Connect, 0x01_00_00_01, 1024 * 1024, Buffer.from('device::features=shell_v2'));
        if (packet.command === AdbCommand.Open) send(AdbCommand.Okay, packet.arg0 + 1000, packet.arg0);
        onPacket(packet, send);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const connected = Promise.withResolvers<AdbConnection>();
  source = watchAddress({
    address: { host: '127.0.0.1', port },
    key: await loadHostKey(dataDir),
    onLink: ({ status }) => {
      if (status.state === 'connected') connected.resolve(status.connection);
    },
  });
  return connected.promise;
}

function sendTo(socket: Socket): Send {
  return (command, arg0, arg1, payload = Buffer.alloc(0)) => {
    const header = Buffer.alloc(24);
    [command, arg0, arg1, payload.length, 0, (command ^ 0xff_ff_ff_ff) >>> 0].forEach((word, index) =>
      header.writeUInt32LE(word, index * 4),
    );
    socket.write(Buffer.concat([header, payload]));
  };
}

it('keeps few of the streams whose end a phone never confirms, and takes what comes of them later', async () => {
  const streams = 200;
  let write: Send = () => {};
  const { adb, gone } = await connectTo((_, send) => (write = send));
  let confirmed = 0;
  const sockets: AdbSocket[] = [];
  for (let n = 0; n < streams; n += 1) {
    const socket = await adb.createSocket('exec:true');
    void socket.closed.then(() => (confirmed += 1));
    await socket.close();
    sockets.push(socket);
  }
  await expect.poll(() => confirmed).toBe(streams - 64);
  for (let id = 1; id <= streams; id += 1) write(AdbCommand.Write, id + 1000, id, Buffer.from('late'));
  for (let id = 1; id <= streams; id += 1) write(AdbCommand.Close, id + 1000, id);
  await expect.poll(() => confirmed).toBe(streams);
  expect(gone.aborted).toBe(false);
});

it('leaves a phone that sends more than anybody takes', async () => {
  let packets = 0;
  const { adb, gone } = await connectTo((packet, send) => {
    if (packet.command !== AdbCommand.Open) return;
    for (; packets < 20; packets += 1)
      send(AdbCommand.Write, packet.arg0 + 1000, packet.arg0, Buffer.alloc(512 * 1024));
  });
  await adb.createSocket('exec:cat /dev/zero');
  await expect.poll(() => gone.aborted).toBe(true);
});
