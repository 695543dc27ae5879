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
 * Returns how many more rows fit into the quota. `count` reads how many there are. Nobody else inserts rows of this
 * quota before the transaction ends, on whatever server.
 */
export async function roomWithin(
  transaction: Transaction,
  { kind, owner, max }: Quota,
  count: () => Promise<number>,
): Promise<number> {
  await serialize(transaction, `${kind} of ${owner}`);
  return max - (await count());
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
