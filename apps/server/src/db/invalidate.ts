import type { CachedThing } from './tables/column-types.ts';
import { databaseTime } from './lease.ts';
import type { Transaction } from './tables/tables.ts';

/** Tells the other servers, in the transaction of the change, that what they cache of this name is out of date. */
export async function invalidate(transaction: Transaction, name: CachedThing): Promise<void> {
  await transaction
    .insertInto('cache_invalidation')
    .values({ name, at: databaseTime(transaction) })
    .execute();
}
