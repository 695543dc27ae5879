import {
  chmodSync,
  closeSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolder } from '@phalanx/settings';

export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Of nobody else: above the users of people, below those that systemd makes up. */
const ownId = 47_374;
/** A folder with this bit is everybody's, such as /tmp. */
const sticky = 0o1000;

/**
 * Who the service can be instead of root: the owner of its data folder, the user `phalanx`, or a number without a name.
 * The folder is theirs afterwards; without one the service works among the temporary files. Throws an error with the reason when they could not work.
 */
export function prepareUser(dataDir: string | undefined): User {
  const user = chooseUser(dataDir);
  const packages = fileURLToPath(import.meta.resolve('commander'));
  const needed = [process.execPath, import.meta.filename, packages];
  needed.push(dataDir === undefined ? tmpdir() : existingAbove(dataDir));
  as(user, () => needed.forEach((file) => requireReachable(file, user)));
  if (dataDir !== undefined) handOver(dataDir, user);
  return user;
}

/** Gives up root for good. */
export function become({ uid, gid }: User): void {
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
