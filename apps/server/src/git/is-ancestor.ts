import type { GitObjects } from './git-objects.ts';
import { GitFailure, runGit } from './run-git.ts';

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
