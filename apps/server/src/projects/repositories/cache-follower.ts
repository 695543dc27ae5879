import type { ListedPack, LoggedPack } from '../packs/pack-log-store.ts';
import type { RepositoryCache } from './repository-cache.ts';

interface FollowerOptions {
  cache: RepositoryCache;
  /** The newest version; throws for what is no project. */
  getVersion: (id: string) => Promise<number>;
  /** Told what the log of a project has when the cache has all of it. */
  onComplete: (id: string, packs: readonly ListedPack[]) => Promise<void>;
}

/** Knows up to which version the cache has each project, and brings it to a newer one. */
export class CacheFollower {
  readonly #options: FollowerOptions;
  readonly #versions = new Map<string, number>();
  /** What is being done to the cache of a project. */
  readonly #working = new Map<string, Promise<unknown>>();

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  /** Resolves when the cache has the project up to `version`. */
  async follow(id: string, version: number): Promise<void> {
    while ((this.#versions.get(id) ?? -1) < version) await (this.#working.get(id) ?? this.complete(id));
  }

  /** Puts back what is missing. `isSuspect`: what is there is looked at too. */
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

  /** Puts the packs of a new version into the cache while there is room on the disk, so that they can be read when there is none. */
  async takeIn(id: string, version: number, packs: readonly LoggedPack[]): Promise<void> {
    if (this.#versions.get(id) !== version - 1) return;
    const installing = Promise.all(packs.map((pack) => this.#options.cache.install(id, pack))).then(
      () => this.#note(id, version),
      // Whoever reads next puts back what is missing, or is told why that does not work.
      () => void this.#versions.delete(id),
    );
    this.#work(id, installing);
    await installing;
  }

  forget(id: string): void {
    this.#versions.delete(id);
  }

  /** Resolves when nothing is done any more. */
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
