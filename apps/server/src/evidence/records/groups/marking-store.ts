import type { RecordStatus } from '@phalanx/protocol';
import type { Db, Transaction } from '../../../storage/db/database.ts';
import type { EpochMs } from '../../../storage/db/tables/column-types.ts';
import { type Claim, enqueue, renewClaim } from '../../../storage/db/work-queue.ts';
import type { StoredRecord } from '../stored-record.ts';
import type { StoredGroup } from './membership-store.ts';

/** Work kind that marks records, or makes them pending again, after the change of their group is stored. */
export const markRecords = 'mark records of groups';

/** Enqueues a move whose records are to be marked or made pending again. */
export const enqueueMarking = (
  transaction: Transaction,
  { owner_id: lane }: StoredGroup,
  moveId: string,
): Promise<void> => enqueue(transaction, markRecords, [{ key: moveId, lane }]);

/** Maximum number of records per transaction, few enough not to delay others noticeably. */
const recordsPerTransaction = 100;
const pending: RecordStatus = 'pending';

interface Step {
  readonly changed: readonly StoredRecord[];
  /** Whether all records are done, or the claim was lost. */
  readonly isLast: boolean;
}

/** Creates the store that marks the records of a changed group, or makes them pending again. */
export function createMarkingStore(db: Db) {
  return {
    /** Changes a batch of the records of a move, and renews the claim. */
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

/**
 * Changes a batch of records. The claim excludes concurrent steps. An undo between two steps reverses the direction.
 */
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

/**
 * Changes the status of a record. Returns undefined when the record was deleted, or a user has since changed its
 * status.
 */
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

/** Stores which records the mark has changed. Its undo leaves all others unchanged. */
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
