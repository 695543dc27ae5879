import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  closeSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '@phalanx/simulated-phone/testing/free-port';
import { Client } from 'pg';

export interface PostgresEngine {
  /** URL of the user who may do everything, without a database: a slash and its name are missing. */
  readonly url: string;
  /** Crashes as when one of its processes ends by SIGKILL: it cuts every connection, recovers and comes back. */
  crash(): void;
  /** Ends at once, as a crash does. */
  stop(): Promise<void>;
}

/** Debian's programs, the newest version; undefined where there are none. */
const programs = globSync('/usr/lib/postgresql/*/bin/postgres').toSorted().at(-1);
export const isPostgresHere = programs !== undefined;

/** Everybody comes in, and `careful` with a password. */
const admission = `host all careful all scram-sha-256\nhost all,replication all 127.0.0.1/32 trust\n`;

/** A cluster is made once for a version; every engine begins with a copy of it. */
const cache = path.join(import.meta.dirname, '../../../../../node_modules/.cache/phalanx-postgres');

/** PostgreSQL refuses to work as root. */
const isRoot = process.getuid?.() === 0;
const idOf = (flag: '-u' | '-g'): number => Number(spawnSync('id', [flag, 'postgres']).stdout.toString());
const asUser = (): { uid: number; gid: number } | Record<string, never> =>
  isRoot ? { uid: idOf('-u'), gid: idOf('-g') } : {};

function give(folder: string): void {
  const { uid, gid } = asUser();
  if (uid === undefined || gid === undefined) return;
  chownSync(folder, uid, gid);
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    chownSync(path.join(folder, name), uid, gid);
}

/** Copies with the modes, which PostgreSQL looks at. */
function copy(from: string, to: string): void {
  const copied = spawnSync('cp', ['-a', from, to]);
  if (copied.status !== 0) throw new Error(`cp: ${copied.stderr.toString()}`);
}

function makeCluster(bin: string, folder: string): void {
  const options = ['-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'];
  mkdirSync(folder);
  give(folder);
  const made = spawnSync(path.join(bin, 'initdb'), [...options, '-D', folder], asUser());
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr.toString()}`);
}

function layBackup(backup: string, folder: string): void {
  copy(backup, folder);
  writeFileSync(path.join(folder, 'recovery.signal'), '');
  give(folder);
}

/** Lays a copy of the cluster of this version into the folder. */
function layCluster(bin: string, folder: string): void {
  const kept = path.join(cache, path.basename(path.dirname(bin)));
  if (existsSync(kept)) {
    copy(kept, folder);
    return give(folder);
  }
  makeCluster(bin, folder);
  mkdirSync(cache, { recursive: true });
  // Another run of the tests may have made it meanwhile.
  if (!existsSync(kept)) copy(folder, kept);
}

/** Throws what PostgreSQL has said, when it ends instead or isn't ready within a minute. */
async function untilReady(url: string, child: ChildProcess, log: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const client = new Client({ connectionString: `${url}/postgres` });
    try {
      await client.connect();
      return await client.end();
    } catch (error) {
      if (tries === 1200 || child.exitCode !== null || child.signalCode !== null)
        throw new Error(`PostgreSQL does not start:\n${readFileSync(log, 'utf8')}`, { cause: error });
      await wait(50);
    }
  }
}

interface EngineOptions {
  /** Whether it waits for its disk. */
  isDurable?: boolean;
  settings?: Readonly<Record<string, string>>;
  /** Backup that `pg_basebackup` has made, to go on with. */
  backup?: string;
}

/** A PostgreSQL of its own, in a temporary folder. It ends with this process. Undefined where it is not installed. */
export async function startPostgres({
  isDurable = false,
  settings: more = {},
  backup,
}: EngineOptions = {}): Promise<PostgresEngine | undefined> {
  if (programs === undefined) return undefined;
  const bin = path.dirname(programs);
  const folder = mkdtempSync(path.join(tmpdir(), 'phalanx-postgres-'));
  give(folder);
  const cluster = path.join(folder, 'cluster');
  if (backup === undefined) layCluster(bin, cluster);
  else layBackup(backup, cluster);
  writeFileSync(path.join(cluster, 'pg_hba.conf'), admission);
  const port = await freePort();
  const fsync = isDurable ? 'on' : 'off';
  const settings = { port, unix_socket_directories: folder, fsync, max_connections: 300, ...more };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const command = ['--pdeathsig', 'QUIT', programs, '-D', cluster, ...args];
  const { uid, gid } = asUser();
  const become = uid === undefined ? [] : [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  const log = path.join(folder, 'log');
  const logFile = openSync(log, 'w');
  const child = spawn('setpriv', [...become, ...command], { stdio: ['ignore', 'ignore', logFile] });
  closeSync(logFile);
  const url = `postgres://postgres@127.0.0.1:${port}`;
  await untilReady(url, child, log);
  return {
    url,
    crash: () => {
      const [writer] = spawnSync('pgrep', ['-P', `${child.pid}`, '-f', 'walwriter'])
        .stdout.toString()
        .split('\n');
      process.kill(Number(writer), 'SIGKILL');
    },
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGQUIT');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
