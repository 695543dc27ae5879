import { maxProjectBytes, maxProjectFiles } from '@phalanx/protocol';
import { boundedCache } from '../../kernel/bounded-cache.ts';
import { type GitObjects, isFolder } from '../git/git-objects.ts';
import { listSizedFiles } from '../git/tree-paths.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { Limits } from '../../kernel/limits/limits.ts';

/** A larger tree is never read: ten thousand files with long names take about as much. */
export const maxTreeBytes = 2 * 1024 * 1024;
/** Of folders in one another, which is checked where files are saved, too. */
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
  /** Told of a project that was refused more: tidied up, it may take less. */
  onFull: (projectId: string) => void;
}

interface Size {
  readonly ownerId: string;
  /** What has been written, as far as this process knows. */
  bytes: number;
  /** What is stored of that: never less, so that a crash forgets nothing, and more, so that most writes store nothing. */
  stored: number;
}

/** The database is told in steps of so much. */
const stepBytes = 256 * 1024;
const maxRemembered = 10_000;

/**
 * What the repositories of projects take: every content that was written counts, also when it was replaced, until git
 * has tidied up and the repository was measured.
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

  /** Before content is written. Throws `project_bytes_exceeded` when its owner has no room for it. */
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

  /** What the repository takes now. */
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

/** What keeps a project of this size from being saved, as the end of "The project would have …". */
export function findTotalsProblem({ files, bytes }: Totals): string | undefined {
  if (files > maxProjectFiles) return `${files} files, and at most ${maxProjectFiles} are allowed`;
  if (bytes > maxProjectBytes) return `${bytes} bytes, and at most ${maxProjectBytes} are allowed`;
  return undefined;
}

/** How much each project holds; counted once, and from then on by what each write changes. */
export class ProjectTotals {
  readonly #byTree = boundedCache<Totals>(maxTreesRemembered);

  /** The totals after `change`; throws `project_full` when that is too much. */
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
  /** Folders in one another. */
  readonly depth: number;
}

/**
 * Counts what trees hold from below: a tree that stands at a million places is read once. One counter sees the trees
 * of one repository.
 */
export class TreeCounter {
  readonly #repository: GitObjects;
  readonly #known = new Map<string, TreeTotals>();
  readonly #sizes = new Map<string, number>();

  constructor(repository: GitObjects) {
    this.#repository = repository;
  }

  /** Infinite for a tree that is too large or too deep to be looked at. */
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
