import { announce } from './commit-announcements.ts';
import { databaseTime } from './lease.ts';
import type { CachedThing } from './tables/column-types.ts';
import type { Transaction } from './tables/tables.ts';

/**
 * Invalidates these caches at the other servers, in the transaction of the change. Call it after the statements of the
 * change. The transaction resolves when all live servers have read the invalidation.
 */
export async function invalidate(transaction: Transaction, ...names: CachedThing[]): Promise<void> {
  await invalidateLater(transaction, ...names);
  for (const name of names) announce(transaction, name);
}

/**
 * Invalidates caches for a change that no caller is notified of: the other servers read it on their own within 500 ms.
 */
export async function invalidateLater(transaction: Transaction, ...names: CachedThing[]): Promise<void> {
  const at = databaseTime(transaction);
  await transaction
    .insertInto('cache_invalidation')
    .values(names.map((name) => ({ name, at })))
    .execute();
}
