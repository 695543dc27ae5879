import { AsyncResource } from 'node:async_hooks';
import type { TransactionBuilder } from 'kysely';
import type { CachedThing, WorkKind } from './tables/column-types.ts';
import type { Database, Db, Transaction } from './tables/tables.ts';

/** Kind of work that a transaction has enqueued, or cache that it has made stale. */
type Announcement = WorkKind | CachedThing;

/** Never rejects: the transaction is stored, whatever becomes of the listener. */
type Listener = (announced: ReadonlySet<Announcement>) => Promise<void> | void;

/** Announcements of the transactions under way. */
const underWay = new WeakMap<Transaction, Set<Announcement>>();
const listeners = new WeakMap<Db, Set<Listener>>();

/** Tells the listeners of this process when the transaction is stored. */
export function announce(transaction: Transaction, announcement: Announcement): void {
  underWay.get(transaction)?.add(announcement);
}

/**
 * Registers a listener for what the stored transactions of this process announce. A transaction resolves when its
 * listeners have. Returns the function that ends it.
 */
export function onCommit(db: Db, listener: Listener): () => void {
  const all = listeners.get(db) ?? new Set();
  // Listeners do not work for the request whose transaction it is: a note of that request is not for their changes.
  const bound = AsyncResource.bind(listener);
  listeners.set(db, all.add(bound));
  return () => void all.delete(bound);
}

/** Executes a transaction, and tells what it has announced once it is stored. */
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
