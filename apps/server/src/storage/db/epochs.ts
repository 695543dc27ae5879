import { numbersIn } from './dialect.ts';
import type { Transaction } from './tables/tables.ts';

/** Thrown for data of a host connection that a newer one has replaced. */
export class EpochOver extends Error {
  override readonly name = 'EpochOver';

  constructor() {
    super('the host has connected again');
  }
}

/**
 * Selects the epochs that belong to the newest connections of their hosts; they stay newest until the transaction ends.
 * A host that reconnects deletes the row of its earlier connection.
 */
export async function selectCurrent(
  transaction: Transaction,
  epochs: readonly number[],
): Promise<ReadonlySet<number>> {
  if (epochs.length === 0) return new Set();
  const rows = await transaction
    .selectFrom('host_session')
    .select('epoch')
    .where('epoch', 'in', numbersIn(transaction, epochs))
    .orderBy('epoch')
    .forKeyShare()
    .execute();
  return new Set(rows.map(({ epoch }) => epoch));
}

/** Whether none of the hosts of these epochs has a newer connection. The result holds until the transaction ends. */
export const areCurrent = async (transaction: Transaction, epochs: ReadonlySet<number>): Promise<boolean> =>
  (await selectCurrent(transaction, [...epochs])).size === epochs.size;

/** Throws `EpochOver` when the host of this epoch has a newer connection. */
export async function requireCurrent(transaction: Transaction, epoch: number): Promise<void> {
  if (!(await areCurrent(transaction, new Set([epoch])))) throw new EpochOver();
}
