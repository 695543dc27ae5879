import { boundedCache } from '../../kernel/bounded-cache.ts';
import type { Limits } from '../../kernel/limits/limits.ts';

interface SizeStore {
  findSize(projectId: string): Promise<{ owner_id: string; size_bytes: number } | undefined>;
  growSize(projectId: string, bytes: number): Promise<void>;
  setSize(projectId: string, bytes: number): Promise<void>;
}

interface Options {
  store: SizeStore;
  limits: Limits;
  /** Called for a project whose write was refused. Repacking may reduce its size. */
  onFull: (projectId: string) => void;
}

interface Size {
  readonly ownerId: string;
  /** Bytes that were written, as known to this process. */
  bytes: number;
  /**
   * Bytes that the database records. At least `bytes`, so that a crash loses nothing. Usually more, so that most writes
   * need no update.
   */
  stored: number;
}

/** Number of bytes that an update of the database reserves in advance. */
const stepBytes = 256 * 1024;
const maxRemembered = 10_000;

/**
 * Storage usage of the projects' repositories. Every written content counts, even after it was replaced, until the log
 * was repacked and measured.
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

  /** Sets the measured size. */
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
