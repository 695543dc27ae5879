import type { RecordStatus } from '@phalanx/protocol';
import type { Db, Transaction } from '../../../storage/db/database.ts';
import type { EpochMs } from '../../../storage/db/tables/column-types.ts';
import { type Claim, enqueue, renewClaim } from '../../../storage/db/work-queue.ts';
import type { StoredRecord } from '../stored-record.ts';
import type { StoredGroup } from './membership-store.ts';

/** Kind of the work: records are marked, or pending again, after the change of their group is stored. */
export const markRecords = 'mark records of groups';

/** Enqueues a move whose records are to be marked, or to be pending again. */
export const enqueueMarking = (
  transaction: Transaction,
  { owner_id: lane }: StoredGroup,
  moveId: string,
): Promise<void> => enqueue(transaction, markRecords, [{ key: moveId, lane }]);

/** A transaction of this length is not noticed by others. */
const recordsPerTransaction = 100;
const pending: RecordStatus = 'pending';

interface Step {
  readonly changed: readonly StoredRecord[];
  /** Whether all is done, or the claim is lost. */
  readonly isLast: boolean;
}

/** The records that a change of their group marks, or makes pending again. */
export function createMarkingStore(db: Db) {
  return {
    /** Changes some of the records of a move, and extends the claim. */
    async step(moveId: string, claim: Claim, until: EpochMs): Promise<Step> {
      let step: Step = { changed: [], isLast: true };
      await renewClaim(db, claim, until, async (transaction) => {
        step = await changeSome(transaction, moveId);
        return true;
      });
      return step;
    },
  };
}

/** The claim keeps other steps away. An undo between two of them turns the direction. */
async function changeSome(transaction: Transaction, moveId: string): Promise<Step> {
  const move = await transaction
    .selectFrom('group_move')
    .select(['mark', 'is_undone'])
    .where('id', '=', moveId)
    .executeTakeFirst();
  if (move === undefined || move.mark === null) return { changed: [], isLast: true };
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
  return { changed, isLast: rows.length < recordsPerTransaction };
}

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
