import type { Db, Transaction } from '../../../storage/db/database.ts';
import type { Row } from '../../../storage/db/tables/tables.ts';

const maxAtOnce = 100;

export type NotedSolving = Row<'group_solving'>;

/** Notes solvings in the transaction that stores the commits. */
export async function noteSolvings(
  transaction: Transaction,
  solvings: readonly NotedSolving[],
): Promise<void> {
  if (solvings.length === 0) return;
  await transaction
    .insertInto('group_solving')
    .values(solvings)
    .onConflict((conflict) => conflict.columns(['group_id', 'commit_hash']).doNothing())
    .execute();
}

export const listSolvings = (db: Db): Promise<NotedSolving[]> =>
  db.selectFrom('group_solving').selectAll().orderBy('noted_at').limit(maxAtOnce).execute();

/** False: it was taken already. */
export async function takeSolving(
  from: Db,
  { group_id: id, commit_hash: hash }: NotedSolving,
): Promise<boolean> {
  const { numDeletedRows } = await from
    .deleteFrom('group_solving')
    .where('group_id', '=', id)
    .where('commit_hash', '=', hash)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
