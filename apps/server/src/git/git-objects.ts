import { type GitProgram, GitFailure, runGit } from './run-git.ts';
import type { Tree } from './tree.ts';

export interface ObjectInfo {
  readonly id: string;
  readonly type: string;
  readonly sizeBytes: number;
}

/** Stands for no object, as in git's own protocols. */
export const noObject = '0'.repeat(40);

/** Objects that can be read: those of a repository, alone or with what a change adds to them. */
export interface GitObjects {
  readonly git: GitProgram;
  /** For commands of git, which see the objects of the repository alone. */
  readonly gitDir: string;
  /** By name of an object, such as `<commit>^{tree}`; the name must not come from a caller unchecked. */
  findInfo(name: string): Promise<ObjectInfo | undefined>;
  readBlob(id: string): Promise<Buffer>;
  readTree(id: string): Promise<Tree>;
}

/**
 * Whether `newer` is the commit `older` or came after it; false when the repository has no commit `older`.
 * `environment`: for a repository that is seen together with the quarantine of a push.
 */
export async function isAncestor(
  repository: GitObjects,
  { older, newer }: { older: string; newer: string | undefined },
  environment: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  if (newer === undefined || (await repository.findInfo(older))?.type !== 'commit') return false;
  if (older === newer) return true;
  try {
    const args = ['merge-base', '--is-ancestor', older, newer];
    await runGit(repository.git, args, { gitDir: repository.gitDir, environment });
    return true;
  } catch (error) {
    // 1 is git's "no"; every other code says that it could not tell.
    if (error instanceof GitFailure && error.exitCode === 1) return false;
    throw error;
  }
}
