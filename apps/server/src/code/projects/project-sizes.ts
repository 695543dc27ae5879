import { maxProjectBytes, maxProjectFiles } from '@phalanx/protocol';
import { boundedCache } from '../../kernel/bounded-cache.ts';
import { type GitObjects, isFolder } from '../git/git-objects.ts';
import { listSizedFiles } from '../git/tree-paths.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { Limits } from '../../kernel/limits/limits.ts';

/** Maximum size of a tree that is read. Ten thousand files with long names take about as much. */
export const maxTreeBytes = 2 * 1024 * 1024;
/** Limit of nested folders, which is checked where files are saved, too. */
const maxDepth = 64;

const tooMuch: TreeTotals = { files: Infinity, bytes: Infinity, pathBytes: Infinity, depth: Infinity };

interface SizeStore {
  findSize(projectId: string): Promise<{ owner_id: string; size_bytes: number } | undefined>;
  growSize(projectId: string, bytes: number): Promise<void>;
  setSize(projectId: string, bytes: number): Promise<void>;
}

interface Options {
  store: SizeStore;
  limits: Limits;
  /** Called for a project that was refused more bytes. Tidied up, it may take less. */
  onFull: (projectId: string) => void;
}

interface Size {
  readonly ownerId: string;
  /** Bytes that were written, as far as this process knows. */
  bytes: number;
  /**
   * Bytes that the database has for it. At least `bytes`, so that a crash forgets nothing. Usually more, so that most
   * writes store nothing.
   */
  stored: number;
}

/** Step in which the database is updated. */
const stepBytes = 256 * 1024;
const maxRemembered = 10_000;

/**
 * Bytes that the repositories of projects take. Every written content counts, even after it was replaced, until git has
 * tidied up and the repository was measured.
 */
export class ProjectSizes {
  readonly #store: SizeStore;
  readonly #limits: Limits;
  readonly #onFull: Options['onFull'];
  readonly #sizes = boundedCache<Size>(maxRemembered);

  constructor({ store, limits, onFull }: Options) {
    this.#store = store;
    this.#limits = limits;
    this.#onFull = onFull;
  }

  /** Counts content before it is written. Throws `project_bytes_exceeded` when the owner's quota has no room for it. */
  async add(projectId: string, bytes: number): Promise<void> {
    const size = await this.#read(projectId);
    if (size === undefined) return;
    size.bytes += bytes;
    if (size.bytes <= size.stored) return;
    const more = size.bytes + stepBytes - size.stored;
    try {
      const release = await this.#limits.keepRoom('project_bytes', size.ownerId, more);
      await this.#store.growSize(projectId, more).finally(release);
      size.stored += more;
    } catch (error) {
      size.bytes -= bytes;
      this.#onFull(projectId);
      throw error;
    }
  }

  /** Sets the size that was measured. */
  async measured(projectId: string, bytes: number): Promise<void> {
    const size = await this.#read(projectId);
    if (size === undefined) return;
    size.bytes = bytes;
    size.stored = bytes;
    await this.#store.setSize(projectId, bytes);
  }

  async #read(projectId: string): Promise<Size | undefined> {
    const known = this.#sizes.get(projectId);
    if (known !== undefined) return known;
    const row = await this.#store.findSize(projectId);
    if (row === undefined) return undefined;
    const size = { ownerId: row.owner_id, bytes: row.size_bytes, stored: row.size_bytes };
    const meanwhile = this.#sizes.get(projectId) ?? size;
    this.#sizes.set(projectId, meanwhile);
    return meanwhile;
  }
}

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

/** Files and bytes of each project. Counted once; after that, each write adds its change. */
export class ProjectTotals {
  readonly #byTree = boundedCache<Totals>(maxTreesRemembered);

  /** Returns the totals after `change`. Throws `project_full` when they are too much. */
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

interface TreeTotals {
  readonly files: number;
  readonly bytes: number;
  /** Length of the longest path. */
  readonly pathBytes: number;
  /** Levels of nested folders. */
  readonly depth: number;
}

/**
 * Counts the content of trees from below. Reads a tree once, even if it is at a million places. One counter is for the
 * trees of one repository.
 */
export class TreeCounter {
  readonly #repository: GitObjects;
  readonly #known = new Map<string, TreeTotals>();
  readonly #sizes = new Map<string, number>();

  constructor(repository: GitObjects) {
    this.#repository = repository;
  }

  /** Counts a tree. Infinite for one that is too large or too deep to be read. */
  async count(treeId: string, depth = 0): Promise<TreeTotals> {
    const known = this.#known.get(treeId);
    if (known !== undefined) return known;
    const isReadable = depth <= maxDepth && (await this.#sizeOf(treeId)) <= maxTreeBytes;
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
