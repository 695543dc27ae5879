import type { RecordStatus } from '@phalanx/protocol';
import type { Db, Transaction } from '../../../storage/db/database.ts';
import { transact } from '../../../storage/db/transactions.ts';
import type { StoredRecord } from '../stored-record.ts';

/** A transaction of this length is not noticed by others. */
const recordsPerTransaction = 100;
const pending: RecordStatus = 'pending';

/** The records that a change of their group marks, or makes pending again. */
export function createMarkingStore(db: Db) {
  return {
    /** Changes some of the records, and returns those that have changed; undefined: all is done. */
    step: (moveId: string): Promise<StoredRecord[] | undefined> =>
      transact(db, async (transaction) => {
        const move = await takeUnfinished(transaction, moveId);
        if (move === undefined || move.mark === null) return undefined;
        const { mark, is_undone: isUndone } = move;
        const rows = await transaction
          .selectFrom('group_move_record')
          .select('record_id')
          .where('move_id', '=', moveId)
          .where('is_done', '=', isUndone)
          .orderBy('record_id')
          .limit(recordsPerTransaction)
          .execute();
        const changed: StoredRecord[] = [];
        for (const { record_id: id } of rows) {
          const status = isUndone === 1 ? { from: mark, to: pending } : { from: pending, to: mark };
          const record = await changeStatus(transaction, id, status);
          if (record !== undefined) changed.push(record);
          await noteDone(transaction, { moveId, id, isKept: record !== undefined && isUndone === 0 });
        }
        if (rows.length === recordsPerTransaction) return changed;
        await transaction
          .updateTable('group_move')
          .set({ is_unfinished: 0 })
          .where('id', '=', moveId)
          .execute();
        return changed.length === 0 ? undefined : changed;
      }),

    /** Lists moves that a dead server has left unfinished. */
    async listUnfinished(before: number): Promise<string[]> {
      const query = db.selectFrom('group_move').select('id').where('is_unfinished', '=', 1);
      const rows = await query.where('made_at', '<', before).orderBy('made_at').limit(100).execute();
      return rows.map(({ id }) => id);
    },
  };
}

/** Locks the move: its records are changed by one step at a time, and it is undone between two of them. */
const takeUnfinished = (transaction: Transaction, moveId: string) =>
  transaction
    .selectFrom('group_move')
    .select(['mark', 'is_undone'])
    .where('id', '=', moveId)
    .where('is_unfinished', '=', 1)
    .forNoKeyUpdate()
    .executeTakeFirst();

/** Undefined: the record is gone, or somebody has marked it otherwise. */
const changeStatus = (
  transaction: Transaction,
  id: string,
  { from, to }: { from: RecordStatus; to: RecordStatus },
): Promise<StoredRecord | undefined> =>
  transaction
    .updateTable('record')
    .set({ status: to })
    .where('id', '=', id)
    .where('status', '=', from)
    .returningAll()
    .executeTakeFirst();

/** Notes records that the mark has changed. Its undo leaves all others alone. */
async function noteDone(
  transaction: Transaction,
  { moveId, id, isKept }: { moveId: string; id: string; isKept: boolean },
): Promise<void> {
  if (isKept)
    await transaction
      .updateTable('group_move_record')
      .set({ is_done: 1 })
      .where('move_id', '=', moveId)
      .where('record_id', '=', id)
      .execute();
  else
    await transaction
      .deleteFrom('group_move_record')
      .where('move_id', '=', moveId)
      .where('record_id', '=', id)
      .execute();
}
