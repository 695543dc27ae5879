import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import type { SimulatedPhone } from '../../simulated-phone.ts';
import { FolderStore } from './folder-store.ts';
import { joinUp } from './join-up.ts';
import { phonePorts } from './phone-ports.ts';

export interface RealAdbd {
  readonly host: '127.0.0.1';
  readonly port: number;
  stop(): Promise<void>;
}

const startTimeoutMs = 20_000;
const pollMs = 50;

/** Puts Debian's adbd, in the file system of `build-root.sh`, between a cable and a simulated phone. Needs root. */
export async function startRealAdbd(phone: SimulatedPhone, root: string): Promise<RealAdbd> {
  const folder = await mkdtemp(join(tmpdir(), 'phalanx-adbd-'));
  await using parts = new AsyncDisposableStack();
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  await writeProperties(phone, folder);
  phone.android.files.moveTo(new FolderStore(folder));
  const services = await serveServices(phone, join(folder, 'data/phone'));
  for (const service of services) parts.defer(() => closeServer(service));
  const inside = spawn(
    'unshare',
    [
      '--mount',
      '--net',
      '--pid',
      '--fork',
      '--kill-child',
      process.execPath,
      join(import.meta.dirname, 'inside.ts'),
      root,
      folder,
    ],
    { stdio: ['pipe', 'ignore', 'ignore'] },
  );
  parts.defer(async () => {
    inside.kill('SIGKILL');
    if (inside.exitCode === null && inside.signalCode === null) await once(inside, 'exit');
  });
  const cablePath = join(folder, 'cable');
  await whenAnswering(cablePath);
  const cable = createServer({ noDelay: true }, (near) => joinUp(near, connect(cablePath)));
  cable.listen(0, '127.0.0.1');
  await once(cable, 'listening');
  parts.defer(() => closeServer(cable));
  const all = parts.move();
  return { host: '127.0.0.1', port: portOf(cable), stop: () => all.disposeAsync() };
}

async function writeProperties(phone: SimulatedPhone, folder: string): Promise<void> {
  await mkdir(join(folder, 'data/phone'), { recursive: true });
  const lines = [...phone.android.properties].map(([name, value]) => `${name}=${value}\n`);
  await writeFile(join(folder, 'data/phone/build.prop'), lines.join(''));
}

/** Serves a socket for the connections of the phone's shell, and one named after each of its ports. */
async function serveServices(phone: SimulatedPhone, folder: string): Promise<Server[]> {
  const serve = async (name: string, accept: (socket: Socket) => Promise<void>): Promise<Server> => {
    const server = createServer((socket) => {
      // An error ends only its own connection, as in adbd.
      accept(socket).catch(() => socket.destroy());
      socket.on('error', () => socket.destroy());
    });
    server.listen(join(folder, name));
    await once(server, 'listening');
    // adbd runs as the user `shell`.
    await chmod(join(folder, name), 0o777);
    return server;
  };
  const bring = async (service: string, socket: Socket): Promise<void> => {
    const program = await phone.findService(service);
    if (program === undefined) socket.destroy();
    else await program(socket);
  };
  return Promise.all([
    serve('shell', async (socket) => bring(`shell,v2,raw:${await readLine(socket)}`, socket)),
    ...phonePorts.map((port) => serve(`tcp-${port}`, (socket) => bring(`tcp:${port}`, socket))),
  ]);
}

/** Reads up to a NUL. The bytes after it stay in the stream. */
async function readLine(socket: Socket): Promise<string> {
  let head = Buffer.alloc(0);
  while (!head.includes(0)) {
    const chunk: unknown = socket.read();
    if (Buffer.isBuffer(chunk)) head = Buffer.concat([head, chunk]);
    else if (socket.readableEnded || socket.destroyed) throw new Error('The shell ended before its command.');
    else await Promise.race([once(socket, 'readable'), once(socket, 'close')]);
  }
  const end = head.indexOf(0);
  if (head.length > end + 1) socket.unshift(head.subarray(end + 1));
  return head.toString('utf8', 0, end);
}

async function whenAnswering(path: string): Promise<void> {
  const endsAt = performance.now() + startTimeoutMs;
  for (;;) {
    if (await answers(path)) return;
    if (performance.now() > endsAt) throw new Error('The real adbd did not start.');
    await pause(pollMs);
  }
}

/** Whether adbd is ready: before that, a connection to it is closed at once. */
async function answers(path: string): Promise<boolean> {
  const socket = connect(path);
  const broken = new Promise<boolean>((resolve) => {
    socket.on('error', () => resolve(false));
    socket.on('close', () => resolve(false));
  });
  const kept = pause(4 * pollMs, true);
  const isKept = await Promise.race([broken, kept]);
  socket.destroy();
  return isKept;
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function closeServer(server: Server): Promise<void> {
  server.close();
}
