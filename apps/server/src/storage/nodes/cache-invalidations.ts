import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import type { Db } from '../db/database.ts';
import { onCommit } from '../db/commit-announcements.ts';
import { type CacheInvalidation, createCacheInvalidationStore, keptMs } from './cache-invalidation-store.ts';
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
  readonly #forgets: [CachedThing, Reload][] = [];
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
        const changed = cachedThings.filter((thing) => announced.has(thing));
        if (changed.length > 0) await this.#spread(new Set(changed));
      }),
      periodically(faults, readEveryMs, () => this.read()),
      periodically(faults, deleteEveryMs, () => this.#store.deleteOld()),
    ];
  }

  /** Time since this server has last read the invalidations, in ms. */
  get ageMs(): number {
    return performance.now() - this.#readAt;
  }

  /** Reloads what other servers have changed. This server takes in its own changes by itself. */
  on(thing: CachedThing, reload: Reload): void {
    this.#reloads.push([thing, reload]);
  }

  /** Forgets what any server has changed; what this one has, before the transaction of the change resolves. */
  onAny(thing: CachedThing, forget: Reload): void {
    this.#reloads.push([thing, forget]);
    this.#forgets.push([thing, forget]);
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

  /** Resolves when this server and the other ones that are there know of the changes, or after half a second. */
  async #spread(changed: ReadonlySet<CachedThing>): Promise<void> {
    const { peers, faults } = this.#options;
    const report = (error: unknown): void =>
      faults.report(
        error,
        'a cache invalidation could not be broadcast; other servers will read it within a second',
      );
    await Promise.all([
      reloadChanged(this.#forgets, changed).catch(report),
      peers.broadcast(readTopic).catch(report),
    ]);
  }

  async #read(): Promise<void> {
    const askedAt = performance.now();
    const rows = await this.#store.list();
    const changed = this.#select(rows);
    await reloadChanged(this.#reloads, changed);
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

async function reloadChanged(
  reloads: readonly (readonly [CachedThing, Reload])[],
  changed: ReadonlySet<CachedThing>,
): Promise<void> {
  for (const [thing, reload] of reloads) if (changed.has(thing)) await reload();
}
