import { maxProjectBytes, maxProjectFiles } from '@phalanx/protocol';
import { boundedCache } from '../../kernel/bounded-cache.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { GitObjects } from '../git/git-objects.ts';
import { listSizedFiles } from '../git/tree-paths.ts';

interface Totals {
  files: number;
  bytes: number;
}

const maxTreesRemembered = 1000;

/** Returns why a project of this size can't be saved, as the end of "The project would have …". */
export function findTotalsProblem({ files, bytes }: Totals): string | undefined {
  if (files > maxProjectFiles) return `${files} files, and at most ${maxProjectFiles} are allowed`;
  if (bytes > maxProjectBytes) return `${bytes} bytes, and at most ${maxProjectBytes} are allowed`;
  return undefined;
}

/**
 * Cache of the number of files and bytes per tree. A project is counted once; after that, each write adds its change.
 */
export class ProjectTotals {
  readonly #byTree = boundedCache<Totals>(maxTreesRemembered);

  /**
   * Returns the totals after `change`. Throws `project_full` when they exceed the limits and the change increases them.
   */
  async requireRoom(repository: GitObjects, treeId: string | undefined, change: Totals): Promise<Totals> {
    const now = await this.#count(repository, treeId);
    const next = { files: now.files + change.files, bytes: now.bytes + change.bytes };
    const problem = findTotalsProblem(next);
    if (problem !== undefined && (change.files > 0 || change.bytes > 0))
      throw ApiError.of('project_full', { problem });
    return next;
  }

  remember(treeId: string | undefined, totals: Totals): void {
    if (treeId !== undefined) this.#byTree.set(treeId, totals);
  }

  async #count(repository: GitObjects, treeId: string | undefined): Promise<Totals> {
    if (treeId === undefined) return { files: 0, bytes: 0 };
    const known = this.#byTree.get(treeId);
    if (known !== undefined) return known;
    const files = await listSizedFiles(repository, treeId);
    return { files: files.length, bytes: files.reduce((sum, file) => sum + file.sizeBytes, 0) };
  }
}
