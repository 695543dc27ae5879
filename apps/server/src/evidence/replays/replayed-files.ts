import { ApiError } from '../../kernel/errors/api-error.ts';
import { isAncestor } from '../../code/git/git-objects.ts';
import type { Projects } from '../../code/projects/feature.ts';
import type { SharedProject } from '../../code/projects/project-access.ts';
import { emptyTree, isDirty } from '../../code/projects/saved-state.ts';

export const findFiles = (
  { services: { repositories } }: Projects,
  { id }: SharedProject,
  wanted: string | undefined,
): Promise<ReplayedFiles> =>
  repositories.read(id, async (repository, state) => {
    if (wanted === undefined) {
      const commit = (await isDirty(repository, state)) ? null : (state.head ?? null);
      return { treeId: state.files ?? emptyTree, commit };
    }
    const commit = (await repository.findInfo(`${wanted.toLowerCase()}^{commit}`))?.id;
    const isOurs =
      commit !== undefined && (await isAncestor(repository, { older: commit, newer: state.head }));
    const treeId = isOurs ? (await repository.findInfo(`${commit}^{tree}`))?.id : undefined;
    if (commit === undefined || treeId === undefined)
      throw ApiError.of('commit_not_found', { hash: wanted, project_id: id });
    return { treeId, commit };
  });

/** Files that a replay uses. */
export interface ReplayedFiles {
  treeId: string;
  commit: string | null;
}
