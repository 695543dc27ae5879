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
import { makeFolder, errorText } from '@phalanx/settings';

import { environment, inherited, reexecWith } from '../config.ts';

const secretNames = [
  'PHALANX_TOKEN',
  'PHALANX_ADMIN_TOKEN',
  'PHALANX_DATABASE_URL',
  'PHALANX_NATS_URL',
  'PHALANX_S3_SECRET_KEY',
];
/** Long-running commands, which work with user code. */
const services: readonly string[] = ['start', 'server', 'host', 'demo'];

/** Notice for the operator, printed once the service runs. */
let startNotice: string | undefined = inherited?.notice;

/** Unassigned user ID: above the IDs of people, below the dynamic IDs of systemd. */
const ownId = 47_374;
/** Sticky bit of folders that all users share, such as /tmp. */
const sticky = 0o1000;

export function tellOfStart(): void {
  if (startNotice !== undefined) console.error(startNotice);
}

/**
 * Re-executes the service without root's rights and without secrets in its environment, if it has any. Returns if there
 * is nothing to drop, or no way to drop it.
 */
export async function reexec([command = '', ...args]: readonly string[]): Promise<void> {
  if (!services.includes(command) || /^(-h|--help)$/m.test(args.join('\n'))) return;
  if (inherited !== undefined) return;
  const dataDir = command === 'demo' ? undefined : dataDirOf(args);
  const isRoot = process.getuid?.() === 0;
  const secrets = readSecrets(isRoot);
  // Builds the console as root, because the user may not write beside the sources and would build it at each
  // start. That later build reports a failure.
  if (isRoot && command !== 'host') {
    const { prepareConsole } = await import('@phalanx/console');
    await prepareConsole().catch(() => undefined);
  }
  const user = isRoot ? leaveRoot(dataDir) : undefined;
  if (user === undefined && Object.keys(secrets).length === 0) return;
  const bare = Object.fromEntries(
    Object.entries(environment).filter(([name]) => !secretNames.includes(name)),
  );
  // Other users cannot read root's home folder.
  const env = {
    ...bare,
    ...(user !== undefined && { HOME: dataDir ?? '/', ...user.cache }),
  };
  reexecWith(env, { secrets, ...(startNotice !== undefined && { notice: startNotice }) });
}

/** Environment variable of Node. */
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
    startNotice = `WARNING: Phalanx was started as root, which it does not need. It runs as user ${user.uid}${owned}. Start it as a user of its own instead.`;
    return { ...user, cache };
  } catch (error) {
    const reason = errorText(error);
    startNotice = `WARNING: Phalanx runs as root, and cannot run as another user: ${reason}. Start it as a user of its own. Only processes for user code, git and compiling give up root's rights, if the operating system can confine them.`;
    return undefined;
  }
}

/** Reads the secrets from the environment and, as root, from files that only root can read. */
function readSecrets(isRoot: boolean): Record<string, string> {
  const found: [string, string][] = [];
  for (const name of secretNames) {
    const file = environment[`${name}_FILE`];
    const text = environment[name] || (isRoot && file ? tryRead(file) : undefined);
    if (text) found.push([name, text]);
  }
  return Object.fromEntries(found);
}

/** Reads a file; undefined if that fails, because the failure is reported when the setting is parsed. */
function tryRead(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** Finds the data folder in the arguments, because parsing the command line would load the whole service. */
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
 * Prepares the user that the service runs as instead of root: the owner of its data folder, the user `phalanx`, or an
 * ID without a name. Gives the data folder to this user; without one, the service works in the temporary folder. Throws
 * an error with the reason if the service could not run as this user.
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

/** Gives up root permanently. */
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
  // Phalanx did not create a shared folder, and its other users would lose it.
  if ((folder.mode & sticky) !== 0) throw new Error(`${dataDir} is a folder that all users share`);
  const database = statSync(path.join(dataDir, 'phalanx.db'), { throwIfNoEntry: false });
  if (folder.uid === user.uid && database?.uid !== 0) return;
  const names = readdirSync(dataDir);
  const isOurs = names.length === 0 || names.includes('phalanx.db') || names.includes('host');
  if (!isOurs) throw new Error(`${dataDir} contains files that do not belong to Phalanx`);
  giveAll(dataDir, user);
  chmodSync(dataDir, 0o700);
}

function giveAll(file: string, user: User): void {
  lchownSync(file, user.uid, user.gid);
  if (!lstatSync(file).isDirectory()) return;
  for (const name of readdirSync(file)) giveAll(path.join(file, name), user);
}

/** Acts temporarily as the user. Only the effective user changes, which the kernel checks when files are opened. */
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
    throw new Error(`user ${uid} cannot read ${file}`);
  }
}

function existingAbove(file: string): string {
  const folder = path.dirname(file);
  return existsSync(folder) ? folder : existingAbove(folder);
}
