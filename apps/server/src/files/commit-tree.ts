import { ApiError } from '../errors/api-error.ts';
import type { GitObjects } from '../git/git-objects.ts';
import { isAncestor } from '../git/is-ancestor.ts';
import { findTreeOf, type SavedState } from '../projects/saved-state.ts';

/** The tree of a commit of the history. Throws `commit_not_found`. */
export async function treeOfCommit(
  repository: GitObjects,
  { head }: SavedState,
  { commit, projectId }: { commit: string; projectId: string },
): Promise<string | undefined> {
  if (!(await isAncestor(repository, { older: commit, newer: head })))
    throw ApiError.of('commit_not_found', { hash: commit, project_id: projectId });
  return findTreeOf(repository, commit);
}
