import { existsSync } from 'node:fs';

import { folderMissing, gitFailed, PartFailed } from '../faults/fault.ts';
import type { GitProgram } from './git-program.ts';

/** Git's words for what the operating system told it; it is run in the C locale. */
const systemErrors: readonly [RegExp, string][] = [
  [/No space left on device/, 'ENOSPC'],
  [/Disk quota exceeded/, 'EDQUOT'],
  [/Read-only file system/, 'EROFS'],
  [/Input\/output error/, 'EIO'],
  [/Too many open files/, 'EMFILE'],
];

/** The error of the operating system that git names as its reason to fail. */
export function findSystemError(stderr: string): NodeJS.ErrnoException | undefined {
  const code = systemErrors.find(([words]) => words.test(stderr))?.[1];
  return code === undefined ? undefined : Object.assign(new Error('git says so'), { code });
}

/** Why git could not be started: its working folder is missing, or it is git itself. */
export function notStarted(git: GitProgram, error: unknown): PartFailed {
  return existsSync(git.stagingFolder) ? gitFailed(error) : new PartFailed(folderMissing, { cause: error });
}

/** What the launcher (packages/confinement) says in the place of git when it can't start it. */
export function neverBegan(git: GitProgram, stderr: string): PartFailed | undefined {
  if (!stderr.startsWith("confine: can't execute")) return undefined;
  return notStarted(git, Object.assign(new Error(stderr), { code: 'ENOENT' }));
}
