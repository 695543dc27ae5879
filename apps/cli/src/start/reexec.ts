import {
  chownSync,
  mkdirSync,
  readFileSync,
  chmodSync,
  closeSync,
  existsSync,
  lchownSync,
  lstatSync,
  openSync,
  readdirSync,
  statSync,
} from 'node:fs';
import path from 'node:path';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { makeFolder } from '@phalanx/settings';

import { environment, inherited, starter, reexecWith, endWithStarter, parentVariable } from '../config.ts';

const secretNames = [
  'PHALANX_TOKEN',
  'PHALANX_ADMIN_TOKEN',
  'PHALANX_DATABASE_URL',
  'PHALANX_NATS_URL',
  'PHALANX_S3_SECRET_KEY',
];
/** The commands that stay, and work on what users wrote. */
const services: readonly string[] = ['start', 'server', 'host', 'demo'];

/** For the operator, once the service runs. */
let startNotice: string | undefined = inherited?.notice;

/** ID of no user: above the users of people, below those that systemd makes up. */
const ownId = 47_374;
/** A folder with this bit is everybody's, such as /tmp. */
const sticky = 0o1000;

export function tellOfStart(): void {
  if (startNotice !== undefined) console.error(startNotice);
}

/**
 * Starts the service once more when it has root's rights, or secrets in its environment: without them. Returns when
 * there is nothing to leave behind, or no way to do it.
 */
export async function reexec([command = '', ...args]: readonly string[]): Promise<void> {
  if (!services.includes(command) || /^(-h|--help)$/m.test(args.join('\n'))) return;
  endWithStarter(starter);
  if (inherited !== undefined) return;
  const dataDir = command === 'demo' ? undefined : dataDirOf(args);
  const isRoot = process.getuid?.() === 0;
  const secrets = readSecrets(isRoot);
  // Builds the console as root, because the user may not write beside the sources and would build it at each
  // start. A failure is reported there.
  if (isRoot && command !== 'host') {
    const { prepareConsole } = await import('@phalanx/console');
    await prepareConsole().catch(() => undefined);
  }
  const user = isRoot ? leaveRoot(dataDir) : undefined;
  if (user === undefined && Object.keys(secrets).length === 0) return;
  const bare = Object.fromEntries(
    Object.entries(environment).filter(([name]) => !secretNames.includes(name)),
  );
  // The folder of root is closed to others.
  const env = {
    ...bare,
    ...(user !== undefined && { HOME: dataDir ?? '/', ...user.cache }),
    ...(starter !== undefined && { [parentVariable]: String(starter) }),
  };
  reexecWith(env, { secrets, ...(startNotice !== undefined && { notice: startNotice }) });
}

/** Node's own setting. */
const compileCache = 'NODE_COMPILE_CACHE';

/** Gives the user a compile cache of its own, because root's cache is closed to others. */
function openCompileCache({ uid, gid }: User): Record<string, string> {
  const ofRoot = environment[compileCache];
  if (!ofRoot) return {};
  const folder = `${ofRoot}-${uid}`;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chownSync(folder, uid, gid);
  return { [compileCache]: folder };
}

function leaveRoot(dataDir: string | undefined): (User & { cache: Record<string, string> }) | undefined {
  try {
    const user = prepareUser(dataDir);
    const cache = openCompileCache(user);
    become(user);
    const owned = dataDir === undefined ? '' : `, who owns ${dataDir} from now on`;
    startNotice = `WARNING: started as root, which Phalanx does not need: it works as user ${user.uid}${owned}. Better give it a user of its own.`;
    return { ...user, cache };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    startNotice = `WARNING: Phalanx runs as root, and cannot work as another user: ${reason}. Give it a user of its own. Only what works on user code, git and compiling gives up root's rights, where the operating system can confine it.`;
    return undefined;
  }
}

/** Those of the environment; and of files that only root can read. */
function readSecrets(isRoot: boolean): Record<string, string> {
  const found: [string, string][] = [];
  for (const name of secretNames) {
    const file = environment[`${name}_FILE`];
    const text = environment[name] || (isRoot && file ? tryRead(file) : undefined);
    if (text) found.push([name, text]);
  }
  return Object.fromEntries(found);
}

/** A file that can't be read is reported where the setting is parsed. */
function tryRead(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** Before the command line is parsed: that takes the whole service to be loaded. */
function dataDirOf(args: readonly string[]): string {
  const at = args.findIndex((arg) => /^--data-dir(=|$)/.test(arg));
  const given = at < 0 ? undefined : (/=(.*)$/.exec(args[at] ?? '')?.[1] ?? args[at + 1]);
  return path.resolve(given || environment['PHALANX_DATA_DIR']?.trim() || './data');
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Prepares the user that the service runs as instead of root: the owner of its data folder, the user `phalanx`,
 * or a number without a name. The folder is theirs afterwards; without one the service works among the
 * temporary files. Throws an error with the reason when they could not work.
 */
function prepareUser(dataDir: string | undefined): User {
  const user = chooseUser(dataDir);
  const packages = fileURLToPath(import.meta.resolve('commander'));
  const needed = [process.execPath, import.meta.filename, packages];
  needed.push(dataDir === undefined ? tmpdir() : existingAbove(dataDir));
  as(user, () => needed.forEach((file) => requireReachable(file, user)));
  if (dataDir !== undefined) handOver(dataDir, user);
  return user;
}

/** Gives up root for good. */
function become({ uid, gid }: User): void {
  process.setgroups?.([gid]);
  process.setgid?.(gid);
  process.setuid?.(uid);
}

function chooseUser(dataDir: string | undefined): User {
  const folder = dataDir === undefined ? undefined : statSync(dataDir, { throwIfNoEntry: false });
  if (folder !== undefined && folder.uid !== 0) return { uid: folder.uid, gid: folder.gid };
  const users = existsSync('/etc/passwd') ? readFileSync('/etc/passwd', 'utf8') : '';
  const [, uid, gid] = /^phalanx:[^:]*:(\d+):(\d+):/m.exec(users) ?? [];
  return { uid: Number(uid ?? ownId), gid: Number(gid ?? ownId) };
}

function handOver(dataDir: string, user: User): void {
  if (!existsSync(dataDir)) {
    makeFolder(path.dirname(dataDir));
    mkdirSync(dataDir, { mode: 0o700 });
  }
  const folder = statSync(dataDir);
  // Then it was not made here, and to be chosen by root is not to be given away.
  if ((folder.mode & sticky) !== 0) throw new Error(`${dataDir} is a folder of everybody`);
  const database = statSync(path.join(dataDir, 'phalanx.db'), { throwIfNoEntry: false });
  if (folder.uid === user.uid && database?.uid !== 0) return;
  const names = readdirSync(dataDir);
  const isOurs = names.length === 0 || names.includes('phalanx.db') || names.includes('host');
  if (!isOurs) throw new Error(`${dataDir} has files that are not those of Phalanx`);
  giveAll(dataDir, user);
  chmodSync(dataDir, 0o700);
}

function giveAll(file: string, user: User): void {
  lchownSync(file, user.uid, user.gid);
  if (!lstatSync(file).isDirectory()) return;
  for (const name of readdirSync(file)) giveAll(path.join(file, name), user);
}

/** For what can be taken back: the effective user is the one that files are opened with. */
function as({ uid, gid }: User, act: () => void): void {
  const groups = process.getgroups?.() ?? [];
  process.setgroups?.([gid]);
  process.setegid?.(gid);
  process.seteuid?.(uid);
  try {
    act();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
    process.setgroups?.(groups);
  }
}

function requireReachable(file: string, { uid }: User): void {
  try {
    if (statSync(file).isDirectory()) statSync(path.join(file, 'x'), { throwIfNoEntry: false });
    else closeSync(openSync(file, 'r'));
  } catch {
    throw new Error(`user ${uid} may not read ${file}`);
  }
}

function existingAbove(file: string): string {
  const folder = path.dirname(file);
  return existsSync(folder) ? folder : existingAbove(folder);
}
