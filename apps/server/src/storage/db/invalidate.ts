import { announce } from './commit-announcements.ts';
import { databaseTime } from './lease.ts';
import type { CachedThing } from './tables/column-types.ts';
import type { Transaction } from './tables/tables.ts';

/**
 * Tells the other servers, in the transaction of the change, that what they cache of these names is stale. Call it after
 * the statements of the change. The transaction resolves when the servers that are there have read it.
 */
export async function invalidate(transaction: Transaction, ...names: CachedThing[]): Promise<void> {
  await invalidateLater(transaction, ...names);
  for (const name of names) announce(transaction, name);
}

/** Does so for a change that no caller is told of: the other servers read it by themselves, within half a second. */
export async function invalidateLater(transaction: Transaction, ...names: CachedThing[]): Promise<void> {
  const at = databaseTime(transaction);
  await transaction
    .insertInto('cache_invalidation')
    .values(names.map((name) => ({ name, at })))
    .execute();
}
