import { AsyncResource } from 'node:async_hooks';
import type { TransactionBuilder } from 'kysely';
import type { WorkKind } from './tables/column-types.ts';
import type { Database, Db, Transaction } from './tables/tables.ts';

type Listener = (kind: WorkKind) => void;

/** Kinds of work that transactions under way have enqueued. */
const enqueued = new WeakMap<Transaction, Set<WorkKind>>();
const listeners = new WeakMap<Db, Set<Listener>>();

/** Tells the workers of this process of the kind when the transaction is stored. */
export function announce(transaction: Transaction, kind: WorkKind): void {
  enqueued.get(transaction)?.add(kind);
}

/** Listens to kinds of which a transaction of this process has stored work. Returns the function that ends it. */
export function onEnqueued(db: Db, listener: Listener): () => void {
  const all = listeners.get(db) ?? new Set();
  // Work is not of the request whose transaction makes it necessary: a note of that request is not for its changes.
  const bound = AsyncResource.bind(listener);
  listeners.set(db, all.add(bound));
  return () => void all.delete(bound);
}

/** Executes a transaction, and tells of the work that it enqueued once it is stored. */
export async function executeTransaction<Result>(
  db: Db,
  builder: TransactionBuilder<Database>,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  const kinds = new Set<WorkKind>();
  const result = await builder.execute((transaction) => {
    enqueued.set(transaction, kinds);
    return work(transaction);
  });
  for (const kind of kinds) for (const listener of listeners.get(db) ?? []) listener(kind);
  return result;
}
