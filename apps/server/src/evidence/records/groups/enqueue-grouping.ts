import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Transaction } from '../../../storage/db/database.ts';
import { enqueue, findWork, makeDue, notDue, type WorkItem } from '../../../storage/db/work-queue.ts';
import type { StoredRecord, StoredScreen } from '../stored-record.ts';

/** Work kind that groups a record after the tree of its last screen has arrived. */
export const groupRecords = 'group records';

const facts = Type.Object({
  /** ID of the last screen with a tree, which decides the group. */
  screen_id: Type.String(),
  /** Commit of the run. The run may be deleted before the tree arrives. */
  commit_hash: Type.Union([Type.String(), Type.Null()]),
});
const factsCheck = Compile(facts);

export type GroupingFacts = Static<typeof facts>;

export const readFacts = ({ payload }: Pick<WorkItem, 'payload'>): GroupingFacts =>
  factsCheck.Parse(JSON.parse(payload ?? ''));

/** Enqueues the grouping of a new record. It becomes due when the tree of its last screen is stored. */
export async function enqueueGrouping(
  transaction: Transaction,
  record: StoredRecord,
  { screens, commit }: { screens: readonly StoredScreen[]; commit: string | null },
): Promise<void> {
  const decisive = screens.findLast(({ tree }) => tree !== 'none');
  // Authors request `debug` records, so these are not unknown screens.
  if (decisive === undefined || record.retention_group !== '') return;
  const payload: GroupingFacts = { screen_id: decisive.screen_id, commit_hash: commit };
  const dueAt = decisive.tree === 'stored' ? record.added_at : notDue;
  await enqueue(transaction, groupRecords, [{ key: record.id, dueAt, payload: JSON.stringify(payload) }]);
}

/**
 * Makes the grouping of a record due when the tree of its decisive screen is stored. Records that waited for their
 * trees are grouped in the order in which they were added.
 */
export async function treeStored(
  transaction: Transaction,
  { id: key, added_at: dueAt }: StoredRecord,
  screenId: string,
): Promise<void> {
  const item = await findWork(transaction, groupRecords, key);
  if (item !== undefined && readFacts(item).screen_id === screenId)
    await makeDue(transaction, groupRecords, { key, dueAt });
}
