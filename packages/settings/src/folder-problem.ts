import { mkdirSync, statSync } from 'node:fs';
import { chmod, open, rm, stat } from 'node:fs/promises';
import path from 'node:path';

import { SettingError } from './setting.ts';

/**
 * Descriptions of problems with a folder, by error code of the system or of SQLite. Each is the middle of a sentence.
 */
const problems: Readonly<Record<string, string>> = {
  EEXIST: 'is a file',
  ENOTDIR: 'lies below a file',
  ENOENT: 'cannot be made',
  EACCES: 'may not be used by this user',
  EPERM: 'may not be used by this user',
  EROFS: 'is on a disk that is read-only',
  ENOSPC: 'is on a disk that is full',
  EDQUOT: 'is on a disk of which this user may not use more',
  EIO: 'is on a disk that reports errors',
  ELOOP: 'is reached by links that go in a circle',
  ENAMETOOLONG: 'has a name that is too long',
  EMFILE: 'cannot be opened, because this process may not open more files',
  ENFILE: 'cannot be opened, because too many files are open on this machine',
  SQLITE_BUSY: 'is in use by another server',
  SQLITE_FULL: 'is on a disk that is full',
  SQLITE_IOERR: 'is on a disk that reports errors',
  SQLITE_READONLY: 'has a database that is read-only',
  SQLITE_CANTOPEN: 'has a database that cannot be opened',
  SQLITE_NOTADB: 'has a database file that is no database, so restore a backup',
  SQLITE_CORRUPT: 'has a database that is damaged, so restore a backup',
};

/** Sticky bit of a folder that all users share, such as /tmp. */
const sticky = 0o1000;

function problemOf(error: unknown): string | undefined {
  for (let next = error; next instanceof Error; next = next.cause) {
    // A program that can't be started causes the same error codes.
    if ('syscall' in next && String(next.syscall).startsWith('spawn')) return undefined;
    const code = 'code' in next ? String(next.code) : '';
    const problem = problems[code] ?? problems[/^SQLITE_[A-Z]+/.exec(code)?.[0] ?? ''];
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/**
 * Explains in one line the error that keeps a program from using the folder of `setting`. Returns an error that does
 * not concern a folder unchanged.
 */
export function explainFolder(
  error: unknown,
  { setting, folder }: { setting: string; folder: string },
): unknown {
  const problem = error instanceof SettingError ? undefined : problemOf(error);
  if (problem === undefined) return error;
  return new SettingError(
    `The folder ${folder} ${problem}. Put that right, or set ${setting} to another folder.`,
    { cause: error },
  );
}

/** Writes `sizeBytes` to a file in `folder`, flushes it to disk, and deletes it. */
export async function tryWrite(folder: string, sizeBytes: number): Promise<void> {
  const file = path.join(folder, '.probe');
  try {
    const handle = await open(file, 'w', 0o600);
    try {
      await handle.writeFile(Buffer.alloc(sizeBytes));
      await handle.sync();
    } finally {
      await handle.close();
    }
  } finally {
    await rm(file, { force: true });
  }
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

/**
 * Creates the folder and its missing parents. Throws the system's error. Node's own `recursive` never ends below
 * `/proc`, where the system reports a missing parent for each folder.
 */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST' && statSync(folder).isDirectory()) return;
    const above = path.dirname(path.resolve(folder));
    if (code !== 'ENOENT' || statSync(above, { throwIfNoEntry: false }) !== undefined) throw error;
    makeFolder(above);
    mkdirSync(folder, { mode: 0o700 });
  }
}

/**
 * Creates a missing folder. From here on, only its user can access files that this process and its children write.
 * Throws the system's error when the folder is not writable.
 */
export async function prepareFolder(folder: string): Promise<void> {
  process.umask(0o077);
  makeFolder(folder);
  await closeToOthers(folder);
  await tryWrite(folder, 4096);
}

/**
 * Restricts an existing folder to its user, because it may be open to all users of the machine, including its later
 * contents.
 */
async function closeToOthers(folder: string): Promise<void> {
  const { mode, uid } = await stat(folder);
  const isOurs = uid === process.getuid?.() && (mode & sticky) === 0;
  if (isOurs && (mode & 0o077) !== 0) await chmod(folder, 0o700);
}
