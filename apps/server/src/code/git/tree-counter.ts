import { type GitObjects, isFolder } from './git-objects.ts';

/** Maximum size of a tree that is read. A tree of ten thousand files with long names has about as much. */
export const maxTreeBytes = 2 * 1024 * 1024;
/** Maximum number of folders in a path. Saving a file rewrites each of them. */
export const maxPathDepth = 64;

interface TreeTotals {
  readonly files: number;
  readonly bytes: number;
  /** Length of the longest path. */
  readonly pathBytes: number;
  /** Levels of nested folders. */
  readonly depth: number;
}

const tooMuch: TreeTotals = { files: Infinity, bytes: Infinity, pathBytes: Infinity, depth: Infinity };

/**
 * Counts the content of trees bottom-up. Reads each tree once, even if it occurs a million times. Use one counter per
 * repository.
 */
export class TreeCounter {
  readonly #repository: GitObjects;
  readonly #known = new Map<string, TreeTotals>();
  readonly #sizes = new Map<string, number>();

  constructor(repository: GitObjects) {
    this.#repository = repository;
  }

  /** Counts a tree. The totals are infinite for a tree that is too large or too deep to be read. */
  async count(treeId: string, depth = 0): Promise<TreeTotals> {
    const known = this.#known.get(treeId);
    if (known !== undefined) return known;
    const isReadable = depth <= maxPathDepth && (await this.#sizeOf(treeId)) <= maxTreeBytes;
    const totals = isReadable ? await this.#add(treeId, depth) : tooMuch;
    this.#known.set(treeId, totals);
    return totals;
  }

  async #add(treeId: string, depth: number): Promise<TreeTotals> {
    let [files, bytes, pathBytes, deepest] = [0, 0, 0, 0];
    for (const [name, entry] of await this.#repository.readTree(treeId)) {
      const below = isFolder(entry)
        ? await this.count(entry.id, depth + 1)
        : { files: 1, bytes: await this.#sizeOf(entry.id), pathBytes: -1, depth: -1 };
      files += below.files;
      bytes += below.bytes;
      pathBytes = Math.max(pathBytes, Buffer.byteLength(name) + 1 + below.pathBytes);
      deepest = Math.max(deepest, below.depth + 1);
    }
    return { files, bytes, pathBytes, depth: deepest };
  }

  async #sizeOf(id: string): Promise<number> {
    const size = this.#sizes.get(id) ?? (await this.#repository.findInfo(id))?.sizeBytes ?? 0;
    this.#sizes.set(id, size);
    return size;
  }
}
