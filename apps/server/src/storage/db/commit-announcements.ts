import { AsyncResource } from 'node:async_hooks';
import type { TransactionBuilder } from 'kysely';
import type { CachedThing, WorkKind } from './tables/column-types.ts';
import type { Database, Db, Transaction } from './tables/tables.ts';

/** Kind of work that a transaction has enqueued, or cache that it has invalidated. */
type Announcement = WorkKind | CachedThing;

/** Listener of commits. It never rejects, because the transaction is already stored. */
type Listener = (announced: ReadonlySet<Announcement>) => Promise<void> | void;

/** Announcements of the open transactions. */
const underWay = new WeakMap<Transaction, Set<Announcement>>();
const listeners = new WeakMap<Db, Set<Listener>>();

/** Notifies the listeners of this process when the transaction is committed. */
export function announce(transaction: Transaction, announcement: Announcement): void {
  underWay.get(transaction)?.add(announcement);
}

/**
 * Registers a listener for the announcements of committed transactions of this process. A transaction resolves when its
 * listeners have. Returns a function that removes the listener.
 */
export function onCommit(db: Db, listener: Listener): () => void {
  const all = listeners.get(db) ?? new Set();
  // Run the listener in its own async context, because a note of the request must not apply to changes of the listener.
  const bound = AsyncResource.bind(listener);
  listeners.set(db, all.add(bound));
  return () => void all.delete(bound);
}

/** Executes a transaction, and notifies the listeners of its announcements once it is committed. */
export async function executeTransaction<Result>(
  db: Db,
  builder: TransactionBuilder<Database>,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  const announced = new Set<Announcement>();
  const result = await builder.execute((transaction) => {
    underWay.set(transaction, announced);
    return work(transaction);
  });
  if (announced.size > 0)
    await Promise.all([...(listeners.get(db) ?? [])].map(async (listener) => listener(announced)));
  return result;
}
