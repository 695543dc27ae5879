import type { SelectQueryBuilder } from 'kysely';
import type { Database, Transaction } from './tables/tables.ts';
import { serialize } from './transactions.ts';

/** Maximum number of rows that an owner may have of a kind, such as the tokens of a user. */
interface Quota {
  /** Plural, such as `tokens`. */
  readonly kind: string;
  readonly owner: string;
  readonly max: number;
}

/**
 * Keeps others from inserting rows of this quota until the transaction ends, on whatever server. A transaction that
 * locks rows before it counts calls it first.
 */
export const lockQuota = (transaction: Transaction, { kind, owner }: Omit<Quota, 'max'>): Promise<void> =>
  serialize(transaction, `${kind} of ${owner}`);

/** Returns how many more rows fit into the quota, under its lock. `count` reads how many there are. */
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
