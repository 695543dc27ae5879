import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import { type CacheInvalidation, type CacheInvalidationStore, keptMs } from './store.ts';
import { periodically } from '../../kernel/periodically.ts';
import { type CachedThing, cachedThings } from '../db/tables/column-types.ts';
import type { Peers } from './peers.ts';
import { SerialQueue } from '../../kernel/serial-queue.ts';

interface InvalidationOptions {
  store: CacheInvalidationStore;
  peers: Peers;
  faults: FaultMonitor;
}

type Reload = () => Promise<void> | void;

const readEveryMs = 500;
/** Maximum age of cached data that may decide about anything. */
const freshMs = 1000;
const deleteEveryMs = 10_000;
const readTopic = 'read-invalidations';

/**
 * Reloads cached data that another server has changed: within a second, and at once when that server asks for it. A
 * server that stood still reads before it does anything. Rows are not numbered in the order in which they become
 * visible, so all rows of the last minute are read, and those that are new count.
 */
export class CacheInvalidations {
  readonly #options: InvalidationOptions;
  readonly #reloads: [CachedThing, Reload][] = [];
  readonly #ends: (() => unknown)[];
  #known = new Set<number>();
  #readAt = performance.now();
  readonly #reads = new SerialQueue();
  #catchingUp: Promise<void> | undefined;

  constructor(options: InvalidationOptions) {
    this.#options = options;
    const { store, peers, faults } = options;
    this.#ends = [
      peers.answer(readTopic, () => this.read()),
      periodically(faults, readEveryMs, () => this.read()),
      periodically(faults, deleteEveryMs, () => store.deleteOld()),
    ];
  }

  /** Time since this server has last read the invalidations, in ms. */
  get ageMs(): number {
    return performance.now() - this.#readAt;
  }

  on(thing: CachedThing, reload: Reload): void {
    this.#reloads.push([thing, reload]);
  }

  /** Resolves when all invalidations that were stored before are known. */
  read(): Promise<void> {
    return this.#reads.run(() => this.#read());
  }

  /** Reads when cached data is older than a second; undefined: it is not. Rejects when the database does not answer. */
  catchUp(): Promise<void> | undefined {
    if (this.ageMs <= freshMs) return undefined;
    this.#catchingUp ??= this.read().finally(() => (this.#catchingUp = undefined));
    return this.#catchingUp;
  }

  /** Resolves when the other servers that are there have read them. */
  tellPeers(): Promise<void> {
    return this.#options.peers.broadcast(readTopic);
  }

  async close(): Promise<void> {
    for (const end of this.#ends) await end();
    await this.#reads.whenIdle();
  }

  async #read(): Promise<void> {
    const askedAt = performance.now();
    const rows = await this.#options.store.list();
    const changed = this.#select(rows);
    for (const [thing, reload] of this.#reloads) if (changed.has(thing)) await reload();
    // Set only now: a failed reload is done again.
    this.#known = new Set(rows.map(({ id }) => id));
    this.#readAt = askedAt;
  }

  #select(rows: readonly CacheInvalidation[]): ReadonlySet<CachedThing> {
    // Some rows may have been deleted unread.
    if (performance.now() - this.#readAt > keptMs / 2) return new Set(cachedThings);
    return new Set(rows.filter(({ id }) => !this.#known.has(id)).map(({ name }) => name));
  }
}
