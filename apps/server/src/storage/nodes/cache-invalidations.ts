import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import type { Db } from '../db/database.ts';
import { onCommit } from '../db/commit-announcements.ts';
import { type CacheInvalidation, createCacheInvalidationStore, keptMs } from './store.ts';
import { periodically } from '../../kernel/periodically.ts';
import { type CachedThing, cachedThings } from '../db/tables/column-types.ts';
import type { Peers } from './peers.ts';
import { SerialQueue } from '../../kernel/serial-queue.ts';

interface InvalidationOptions {
  database: Db;
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
  readonly #store;
  readonly #reloads: [CachedThing, Reload][] = [];
  readonly #ends: (() => unknown)[];
  #known = new Set<number>();
  #readAt = performance.now();
  readonly #reads = new SerialQueue();
  #catchingUp: Promise<void> | undefined;

  constructor(options: InvalidationOptions) {
    this.#options = options;
    const { database, peers, faults } = options;
    this.#store = createCacheInvalidationStore(database);
    this.#ends = [
      peers.answer(readTopic, () => this.read()),
      onCommit(database, async (announced) => {
        if (cachedThings.some((thing) => announced.has(thing))) await this.#tellPeers();
      }),
      periodically(faults, readEveryMs, () => this.read()),
      periodically(faults, deleteEveryMs, () => this.#store.deleteOld()),
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

  async close(): Promise<void> {
    for (const end of this.#ends) await end();
    await this.#reads.whenIdle();
  }

  /** Resolves when the other servers that are there have read the invalidations, or after half a second. */
  async #tellPeers(): Promise<void> {
    const { peers, faults } = this.#options;
    try {
      await peers.broadcast(readTopic);
    } catch (error) {
      faults.report(error, 'the other servers could not be told of a change: they read it within a second');
    }
  }

  async #read(): Promise<void> {
    const askedAt = performance.now();
    const rows = await this.#store.list();
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
