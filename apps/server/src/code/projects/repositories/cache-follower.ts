import type { ListedPack, LoggedPack } from '../packs/pack-log-store.ts';
import type { RepositoryCache } from './repository-cache.ts';

interface Options {
  cache: RepositoryCache;
  /** Returns the newest version. Throws when there is no such project. */
  getVersion: (id: string) => Promise<number>;
  /** Called with the packs of a project's log when the cache has all of them. */
  onComplete: (id: string, packs: readonly ListedPack[]) => Promise<void>;
}

/** Tracks the version that the cache has of each project, and updates it to a newer one. */
export class CacheFollower {
  readonly #options: Options;
  readonly #versions = new Map<string, number>();
  /** Cache work in progress, by project. */
  readonly #working = new Map<string, Promise<unknown>>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Resolves when the cache has the project up to `version`. */
  async follow(id: string, version: number): Promise<void> {
    while ((this.#versions.get(id) ?? -1) < version) await (this.#working.get(id) ?? this.complete(id));
  }

  /** Restores missing packs. `isSuspect`: also checks the existing ones. */
  complete(id: string, isSuspect = false): Promise<void> {
    const { cache, getVersion, onComplete } = this.#options;
    const completing = (async () => {
      const version = await getVersion(id);
      const packs = await cache.complete(id, isSuspect);
      this.#note(id, version);
      await onComplete(id, packs);
    })();
    this.#work(id, completing);
    return completing;
  }

  /**
   * Installs the packs of a new version in the cache while the disk has room, so that they can be read when the disk is
   * full.
   */
  async takeIn(id: string, version: number, packs: readonly LoggedPack[]): Promise<void> {
    if (this.#versions.get(id) !== version - 1) return;
    const installing = Promise.all(packs.map((pack) => this.#options.cache.install(id, pack))).then(
      () => this.#note(id, version),
      // Forgets the version, so that the next reader restores the missing packs or gets the error.
      () => void this.#versions.delete(id),
    );
    this.#work(id, installing);
    await installing;
  }

  forget(id: string): void {
    this.#versions.delete(id);
  }

  /** Resolves when all work has ended. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#working.values());
  }

  #work(id: string, work: Promise<unknown>): void {
    const working = work.finally(() => {
      if (this.#working.get(id) === working) this.#working.delete(id);
    });
    working.catch(() => undefined);
    this.#working.set(id, working);
  }

  #note(id: string, version: number): void {
    this.#versions.set(id, Math.max(version, this.#versions.get(id) ?? version));
  }
}
