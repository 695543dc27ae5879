import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { watchAddress } from './direct-tcp.ts';
import { type HostKey, loadHostKey } from './host-key.ts';
import type { Link, LinkSource } from './link.ts';

let dataDir: string;
let key: HostKey;
let server: Server;
let source: LinkSource | undefined;
const sockets = new Set<Socket>();

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'phalanx-direct-'));
  key = await loadHostKey(dataDir);
});
afterEach(async () => {
  await source?.close();
  for (const socket of sockets) socket.destroy();
  server.close();
  await rm(dataDir, { recursive: true, force: true });
});

/** Watches a peer that is not a phone. Resolves with the first status that fits. */
async function watchPeer(onSocket: (socket: Socket) => void, fits: (link: Link) => boolean): Promise<Link> {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onSocket(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const found = Promise.withResolvers<Link>();
  source = watchAddress({
    address: { host: '127.0.0.1', port },
    key,
    timeoutMs: 300,
    onLink: (link) => {
      if (fits(link)) found.resolve(link);
    },
  });
  return await found.promise;
}

const isOffline = (link: Link): boolean => link.status.state === 'offline';
const reasonOf = ({ status }: Link): string => (status.state === 'connected' ? '' : status.reason);

describe('an address that is watched', () => {
  it.each<[string, (socket: Socket) => void]>([
    ['says nothing', () => {}],
    ['closes at once', (socket) => socket.destroy()],
    ['speaks HTTP', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')],
    ['sends noise', (socket) => socket.write(Buffer.alloc(100_000, 0xa5))],
    ['announces a packet of 4 GB', (socket) => socket.write(hugePacket())],
    ['sends unknown packets without end', (socket) => flood(socket)],
  ])('is offline, with what to do, when the peer %s', async (_, onSocket) => {
    const link = await watchPeer(onSocket, isOffline);
    expect(link.name).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(reasonOf(link)).toContain('does not answer as ADB');
  });

  it('says that a phone with wireless debugging wants TLS', async () => {
    const link = await watchPeer((socket) => socket.write(packet(0x53_4c_54_53, 0)), isOffline);
    expect(reasonOf(link)).toContain('TLS');
  });

  it('keeps asking a phone that never lets it in, without hammering it', async () => {
    let offers = 0;
    const link = await watchPeer(
      (socket) =>
        socket.on('data', (data: Buffer) => {
          // The peer answers every AUTH that carries a key or a signature with the next AUTH.
          if (data.includes('phalanx@')) offers += 1;
          if (data.includes('CNXN') || data.includes('AUTH')) socket.write(packet(0x48_54_55_41, 20));
        }),
      ({ status }) => status.state === 'unauthorized',
    );
    expect(reasonOf(link)).toContain('Allow USB debugging');
    expect(offers).toBeLessThanOrEqual(1);
  });

  it('waits longer each time for a phone that lets it in and hangs up', async () => {
    const dialledAt: number[] = [];
    const enough = Promise.withResolvers<void>();
    let timesIn = 0;
    void watchPeer(
      (socket) => {
        dialledAt.push(performance.now());
        if (dialledAt.length === 5) enough.resolve();
        socket.once('data', () => socket.end(welcome()));
      },
      ({ status }) => {
        if (status.state === 'connected') timesIn += 1;
        return false;
      },
    );
    await enough.promise;
    expect(timesIn).toBe(4);
    // The backoff is 200, 400, 800 and 1,600 ms, less a quarter. Without one there are hundreds of dials in that time.
    expect((dialledAt[4] ?? 0) - (dialledAt[0] ?? 0)).toBeGreaterThan(0.75 * 3000);
  });

  it('ends its connection when it is closed in the middle of a handshake', async () => {
    const arrived = Promise.withResolvers<Socket>();
    void watchPeer(
      (socket) => arrived.resolve(socket),
      () => false,
    );
    const socket = await arrived.promise;
    const closed = once(socket, 'close');
    socket.resume();
    await source?.close();
    await expect(closed).resolves.toBeDefined();
  });
});

/** CNXN packet of a phone that accepts the host. */
function welcome(): Buffer {
  const banner = Buffer.from('device::ro.product.model=Short;features=shell_v2,cmd');
  const head = packet(0x4e_58_4e_43, 0, banner.length);
  head.writeUInt32LE(0x0100_0001, 4);
  head.writeUInt32LE(256 * 1024, 8);
  return Buffer.concat([head, banner]);
}

function packet(command: number, payloadBytes: number, announcedBytes = payloadBytes): Buffer {
  const bytes = Buffer.alloc(24 + payloadBytes, 7);
  [command, 1, 0, announcedBytes, 0, (command ^ 0xff_ff_ff_ff) >>> 0].forEach((word, index) =>
    bytes.writeUInt32LE(word, index * 4),
  );
  return bytes;
}

function hugePacket(): Buffer {
  return packet(0x45_54_52_57, 0, 0xff_ff_ff_ff);
}

function flood(socket: Socket): void {
  const chunk = Buffer.concat(Array.from({ length: 100 }, () => packet(0x11_22_33_44, 10)));
  const pump = (): void => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', pump);
  pump();
}
