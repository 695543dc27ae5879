import type { ProjectFiles } from '../compile/project-mirror.ts';
import { findAt, listFiles } from '../git/tree-walk.ts';
import type { GitRepository } from '../git/git-repository.ts';
import { emptyTree } from './saved-state.ts';

/** Runs a piece of work at a project's repository. */
export type ReadRepository = <Result>(
  work: (repository: GitRepository) => Promise<Result>,
) => Promise<Result>;

/** One tree of a project's files for the compiler; it never changes, whatever is written meanwhile. */
export function createProjectFiles(
  projectId: string,
  treeId: string | undefined,
  read: ReadRepository,
): ProjectFiles {
  return {
    projectId,
    treeId: treeId ?? emptyTree,
    list: () =>
      read(async (repository) => {
        const files = await listFiles(repository, treeId);
        return new Map(Array.from(files, ([path, entry]) => [path, entry.id]));
      }),
    read: (path) =>
      read(async (repository) => {
        const found = await findAt(repository, treeId, path);
        return found.kind === 'file' ? (await repository.readBlob(found.entry.id)).toString() : undefined;
      }),
  };
}
