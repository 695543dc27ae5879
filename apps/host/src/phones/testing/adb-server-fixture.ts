import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { formatAddress, type Address } from '@phalanx/settings';
import { freePort } from '@phalanx/simulated-phone/testing/free-port';
import { AdbServerClient } from '@yume-chan/adb';
import { connectorTo } from '../../adb/adb-server.ts';
import { openTcpSocket } from '../../adb/tcp-socket.ts';
import { pause } from '../../time/time-limit.ts';

/** Real adb server for one test, with its own port and home. It does not scan the machine for emulators. */
export interface AdbServerFixture {
  readonly address: Address;
  /** Runs the adb client against this server. */
  adb(...args: string[]): Promise<string>;
  /** Connects without the adb client, which would start its own server when none answers. Rejects then. */
  connect(phone: Address): Promise<void>;
  disconnect(phone: Address): Promise<void>;
  /** Resolves when the server has ended, by `stop` or by itself. */
  readonly ended: Promise<void>;
  /** Kills the server, as a crash would. */
  stop(): Promise<void>;
}

const run = promisify(execFile);

/** Whether tests with the real adb can run. Without adb they are skipped with a message; in CI that is a failure. */
export async function hasAdb(): Promise<boolean> {
  const found = await run('adb', ['version']).then(
    () => true,
    () => false,
  );
  if (found) return true;
  const message =
    'adb is not on the PATH (Debian: apt-get install adb): the tests with a real adb server are LEFT OUT';
  if (process.env['CI'] !== undefined) throw new Error(message);
  console.warn(message);
  return false;
}

export async function startAdbServer(port?: number): Promise<AdbServerFixture> {
  const address = { host: '127.0.0.1', port: port ?? (await freePort()) };
  const home = await mkdtemp(join(tmpdir(), 'phalanx-adb-'));
  const env = {
    ...process.env,
    HOME: home,
    ANDROID_USER_HOME: home,
    ANDROID_SDK_HOME: home,
    ADB_MDNS_AUTO_CONNECT: '0',
    ADB_LOCAL_TRANSPORT_MAX_PORT: '5554',
  };
  const server = spawn('adb', ['-P', String(address.port), 'nodaemon', 'server'], { env, stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => server.once('close', () => resolve()));
  const adb = async (...args: string[]): Promise<string> =>
    (await run('adb', ['-P', String(address.port), ...args], { env })).stdout;
  const stop = async (): Promise<void> => {
    server.kill('SIGKILL');
    await ended;
    await rm(home, { recursive: true, force: true });
  };
  await waitUntilListening(address);
  return {
    address,
    adb,
    connect: (phone) => connectPhone(address, phone),
    disconnect: async (phone) => void (await adb('disconnect', formatAddress(phone))),
    ended,
    stop,
  };
}

async function connectPhone(server: Address, phone: Address): Promise<void> {
  const client = new AdbServerClient(connectorTo(server));
  const stream = await client.createConnection(`host:connect:${formatAddress(phone)}`);
  // The answer is ignored: the server's list of phones shows the result.
  await stream.readString();
  await stream.dispose();
}

/** Waits without the adb client, which would start its own server when none answers yet. */
async function waitUntilListening(address: Address): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const socket = await openTcpSocket(address, 1000).catch(() => undefined);
    socket?.destroy();
    if (socket !== undefined) return;
    await pause(25, new AbortController().signal);
  }
  throw new Error(`The adb server on port ${address.port} did not start`);
}
