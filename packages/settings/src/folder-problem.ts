import { SettingError } from './setting-error.ts';

/** What the system and SQLite say of a folder that can't be used, as the middle of a sentence. */
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

function problemOf(error: unknown): string | undefined {
  for (let next = error; next instanceof Error; next = next.cause) {
    // A program that can't be started has errors of the same codes.
    if ('syscall' in next && String(next.syscall).startsWith('spawn')) return undefined;
    const code = 'code' in next ? String(next.code) : '';
    const problem = problems[code] ?? problems[/^SQLITE_[A-Z]+/.exec(code)?.[0] ?? ''];
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/**
 * What keeps a program from using the folder of `setting`, as one line; an error that says nothing about a folder is
 * returned as it is.
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
