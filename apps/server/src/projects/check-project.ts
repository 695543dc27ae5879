import { errorCodeOf } from '../error-code.ts';
import type { GitProgram } from '../git/git-program.ts';
import { GitFailure, runGit } from '../git/run-git.ts';
import type { PackLogStore } from './pack-log-store.ts';
import type { RepositoryCache } from './repository-cache.ts';

const timeoutMs = 30 * 60 * 1000;

interface ProjectCheck {
  git: GitProgram;
  store: PackLogStore;
  /** Of the check alone. */
  cache: RepositoryCache;
}

/** Makes the repository of its log and has git look at all that can be reached in it. Returns what is wrong, if anything is. */
export async function problemOfProject(
  { git, store, cache }: ProjectCheck,
  id: string,
): Promise<string | undefined> {
  const tips = (await store.findTips(id))?.tips;
  if (tips === undefined || tips.size === 0) return undefined;
  try {
    await cache.complete(id, true);
    const gitDir = cache.gitDirOf(id);
    const args = ['fsck', '--full', '--no-dangling', '--no-progress', ...tips];
    await runGit(git, args, { gitDir, timeoutMs });
    return undefined;
  } catch (error) {
    // A project that was deleted meanwhile, or packed anew, is none of ours.
    if (await hasChanged(store, id, tips)) return await problemOfProject({ git, store, cache }, id);
    if (errorCodeOf(error) === 'ENOENT') return 'a pack of it is missing';
    if (error instanceof GitFailure) return error.message;
    throw error;
  } finally {
    await cache.remove(id);
  }
}

async function hasChanged(store: PackLogStore, id: string, before: ReadonlySet<string>): Promise<boolean> {
  const now = (await store.findTips(id))?.tips ?? new Set<string>();
  return now.symmetricDifference(before).size > 0;
}
