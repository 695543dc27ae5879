import { maxProjectBytes, maxProjectFiles } from '@phalanx/protocol';
import { LRUCache } from 'lru-cache';

import type { GitRepository } from '../git/git-repository.ts';
import { listSizedFiles } from '../git/sized-files.ts';
import { ApiError } from '../http/api-error.ts';

interface Totals {
  files: number;
  bytes: number;
}

const maxRemembered = 1000;

/** What keeps a project of this size from being saved, as the end of "The project would have …". */
export function findTotalsProblem({ files, bytes }: Totals): string | undefined {
  if (files > maxProjectFiles) return `${files} files, and at most ${maxProjectFiles} are allowed`;
  if (bytes > maxProjectBytes) return `${bytes} bytes, and at most ${maxProjectBytes} are allowed`;
  return undefined;
}

/** How much each project holds; counted once, and from then on by what each write changes. */
export class ProjectTotals {
  readonly #byTree = new LRUCache<string, Totals>({ max: maxRemembered });

  /** The totals after `change`; throws `project_full` when that is too much. */
  async requireRoom(repository: GitRepository, treeId: string | undefined, change: Totals): Promise<Totals> {
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

  async #count(repository: GitRepository, treeId: string | undefined): Promise<Totals> {
    if (treeId === undefined) return { files: 0, bytes: 0 };
    const known = this.#byTree.get(treeId);
    if (known !== undefined) return known;
    const files = await listSizedFiles(repository, treeId);
    return { files: files.length, bytes: files.reduce((sum, file) => sum + file.sizeBytes, 0) };
  }
}
