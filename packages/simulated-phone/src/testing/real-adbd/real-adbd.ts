import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import type { SimulatedPhone } from '../../simulated-phone.ts';

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
  const services = await serveServices(phone, join(folder, 'data/phone/socket'));
  parts.defer(() => closeServer(services));
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

/** The phone's shell and its listening sockets, each connection by the name of a service and a NUL. */
async function serveServices(phone: SimulatedPhone, path: string): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    void serveNamed(phone, socket);
  });
  server.listen(path);
  await once(server, 'listening');
  // adbd is the user `shell`.
  await chmod(path, 0o777);
  return server;
}

async function serveNamed(phone: SimulatedPhone, socket: Socket): Promise<void> {
  let head = Buffer.alloc(0);
  let end = -1;
  for (; end === -1; end = head.indexOf(0)) {
    const [chunk]: unknown[] = await once(socket, 'data').catch(() => []);
    if (!Buffer.isBuffer(chunk)) return;
    socket.pause();
    head = Buffer.concat([head, chunk]);
  }
  if (head.length > end + 1) socket.unshift(head.subarray(end + 1));
  const serve = await phone.findService(head.toString('utf8', 0, end));
  if (serve === undefined) socket.destroy();
  else await serve(socket);
}

async function whenAnswering(path: string): Promise<void> {
  const endsAt = performance.now() + startTimeoutMs;
  for (;;) {
    if (await answers(path)) return;
    if (performance.now() > endsAt) throw new Error('The real adbd did not start.');
    await pause(pollMs);
  }
}

/** adbd is there when it keeps a connection: until then the way to it breaks at once. */
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

function joinUp(near: Socket, far: Socket): void {
  near.pipe(far).pipe(near);
  near.on('error', () => far.destroy()).on('close', () => far.destroy());
  far.on('error', () => near.destroy()).on('close', () => near.destroy());
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function closeServer(server: Server): Promise<void> {
  server.close();
}
