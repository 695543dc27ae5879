import type { AuditAction } from '@phalanx/protocol';
import { type CachedThing, cachedThings } from '../db/tables/column-types.ts';
import type { FaultMonitor } from '../faults/fault-monitor.ts';
import { periodically } from '../background-job.ts';
import type { AuditEventSink } from '../http/audit-event.ts';
import { type CacheInvalidation, type CacheInvalidationStore, keptMs } from './store.ts';
import type { Peers } from './peers.ts';

/** What changes something that the other servers cache. */
const invalidating: ReadonlySet<AuditAction> = new Set([
  ...(['share_project', 'unshare_project', 'delete_project'] as const),
  ...(['share_device', 'unshare_device', 'share_host', 'unshare_host', 'forget_device'] as const),
  ...(['rename_device', 'label_device', 'label_host', 'save_pool', 'delete_pool'] as const),
  ...(['create_job', 'cancel_job', 'resume_job'] as const),
  ...(['create_schedule', 'change_schedule'] as const),
  ...(['lease_device', 'end_lease', 'delete_token', 'sign_out'] as const),
  ...(['create_user', 'update_user', 'delete_user'] as const),
]);

interface Options {
  store: CacheInvalidationStore;
  peers: Peers;
  faults: FaultMonitor;
}

type Reload = () => Promise<void> | void;

const readEveryMs = 500;
/** What was cached longer ago decides about nothing. */
const freshMs = 1000;
const deleteEveryMs = 10_000;
const topic = 'read-invalidations';

/**
 * Reloads what this server caches and another one has changed: within a second, and at once when that other one asks
 * for it. A server that stood still reads before it does anything. Rows are not numbered in the order in which they
 * become visible, so all of the last minute are read, and those that are new count.
 */
export class CacheInvalidations {
  readonly #options: Options;
  readonly #reloads: [CachedThing, Reload][] = [];
  readonly #ends: (() => unknown)[];
  #known = new Set<number>();
  #readAt = performance.now();
  #reading: Promise<void> = Promise.resolve();
  #catchingUp: Promise<void> | undefined;

  constructor(options: Options) {
    this.#options = options;
    const { store, peers, faults } = options;
    this.#ends = [
      peers.answer(topic, () => this.read()),
      periodically(faults, readEveryMs, () => this.read()),
      periodically(faults, deleteEveryMs, () => store.deleteOld()),
    ];
  }

  /** How long ago this server has last read them. */
  get ageMs(): number {
    return performance.now() - this.#readAt;
  }

  on(thing: CachedThing, reload: Reload): void {
    this.#reloads.push([thing, reload]);
  }

  /** Resolves when everything is known that was stored before. */
  read(): Promise<void> {
    const read = (): Promise<void> => this.#read();
    this.#reading = this.#reading.then(read, read);
    return this.#reading;
  }

  /** Undefined: what is cached is not older than a second. Rejects when the database does not answer. */
  catchUp(): Promise<void> | undefined {
    if (this.ageMs <= freshMs) return undefined;
    this.#catchingUp ??= this.read().finally(() => (this.#catchingUp = undefined));
    return this.#catchingUp;
  }

  /** Resolves when the other servers that are there have read them. */
  tellPeers(): Promise<void> {
    return this.#options.peers.broadcast(topic);
  }

  async close(): Promise<void> {
    for (const end of this.#ends) await end();
    await this.#reading.catch(() => undefined);
  }

  async #read(): Promise<void> {
    const askedAt = performance.now();
    const rows = await this.#options.store.list();
    const changed = this.#select(rows);
    for (const [thing, reload] of this.#reloads) if (changed.has(thing)) await reload();
    // Not before: what failed is done again.
    this.#known = new Set(rows.map(({ id }) => id));
    this.#readAt = askedAt;
  }

  #select(rows: readonly CacheInvalidation[]): ReadonlySet<CachedThing> {
    // Some may have been deleted unread.
    if (performance.now() - this.#readAt > keptMs / 2) return new Set(cachedThings);
    return new Set(rows.filter(({ id }) => !this.#known.has(id)).map(({ name }) => name));
  }
}

/** A caller who is told that something is done may ask any server next. */
export const invalidatingAuditEvents = (
  auditEvents: AuditEventSink,
  invalidations: Pick<CacheInvalidations, 'tellPeers'>,
): AuditEventSink => ({
  async tell(auditEvent) {
    if (invalidating.has(auditEvent.action)) await invalidations.tellPeers();
  },
  noteOf: (auditEvent) => auditEvents.noteOf(auditEvent),
  done: (auditEvent) => auditEvents.done(auditEvent),
  happened: (auditEvent) => auditEvents.happened(auditEvent),
  failed: (auditEvent, error) => auditEvents.failed(auditEvent, error),
});
