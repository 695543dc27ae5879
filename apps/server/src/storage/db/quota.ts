import type { SelectQueryBuilder } from 'kysely';
import type { Database, Transaction } from './tables/tables.ts';
import { serialize } from './transactions.ts';

/** Maximum number of rows of a kind per owner, such as the tokens of a user. */
interface Quota {
  /** Plural, such as `tokens`. */
  readonly kind: string;
  readonly owner: string;
  readonly max: number;
}

/**
 * Locks the quota until the transaction ends, so that no other transaction on any server inserts rows of it. A
 * transaction that locks rows before it counts must call this first.
 */
export const lockQuota = (transaction: Transaction, { kind, owner }: Omit<Quota, 'max'>): Promise<void> =>
  serialize(transaction, `${kind} of ${owner}`);

/** Returns how many more rows fit into the quota, under its lock. `count` reads the current number. */
export async function roomWithin(
  transaction: Transaction,
  quota: Quota,
  count: () => Promise<number>,
): Promise<number> {
  await lockQuota(transaction, quota);
  return quota.max - (await count());
}

/** Counts the rows that the query finds. */
export async function countRows<Table extends keyof Database>(
  query: SelectQueryBuilder<Database, Table, object>,
): Promise<number> {
  const { count } = await query
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}
