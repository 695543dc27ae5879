import type { GroupChange, JoinReason } from '@phalanx/protocol';
import { v7 as uuidv7 } from 'uuid';
import type { Db, Transaction } from '../../../storage/db/database.ts';
import { textsIn } from '../../../storage/db/dialect.ts';
import type { Row } from '../../../storage/db/tables/tables.ts';
import { timeOfUuidV7 } from '../../../kernel/uuid-v7.ts';
import { readPrint } from './prints/group-prints-store.ts';
import { titleOf } from './joining-store.ts';
import { isKeyOfCrash } from './crash.ts';
import type { StoredGroup } from './membership-store.ts';

export type StoredMove = Row<'group_move'>;

export interface Maker {
  userId: string;
  now: number;
}

/** State of groups and prints before a change. */
export interface Before {
  groups: StoredGroup[];
  /** Keys of the moved prints, by the group that they came from. */
  prints: Record<string, string[]>;
  /** ID of the group that a split has created; null for other moves. */
  created: string | null;
}

const by: JoinReason = { by: 'person' };
const byPerson = JSON.stringify(by);

export const newMove = (
  kind: GroupChange['kind'],
  groupId: string,
  { userId, now }: Maker,
  before: Before,
): StoredMove => ({
  id: uuidv7(),
  kind,
  group_id: groupId,
  made_by: userId,
  made_at: now,
  mark: null,
  before: JSON.stringify(before),
  is_undone: 0,
});

export async function insertMove(transaction: Transaction, move: StoredMove): Promise<void> {
  await transaction.insertInto('group_move').values(move).execute();
}

/** Reads the state before a move without validation: only `newMove` writes this column. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
export const readBefore = ({ before }: StoredMove): Before => JSON.parse(before) as Before;

export async function findMove(from: Db, id: string | null): Promise<StoredMove | undefined> {
  if (id === null) return undefined;
  const query = from.selectFrom('group_move').selectAll().where('id', '=', id).where('is_undone', '=', 0);
  return query.executeTakeFirst();
}

/** Stores which records of the group are pending now. Records that join later are not marked with them. */
export async function notePending(transaction: Transaction, moveId: string, groupId: string): Promise<void> {
  await transaction
    .insertInto('group_move_record')
    .columns(['move_id', 'record_id', 'group_id', 'reason', 'is_done'])
    .expression((eb) =>
      eb
        .selectFrom('group_member')
        .innerJoin('record', 'record.id', 'group_member.record_id')
        .select((one) => [
          one.val(moveId).as('move_id'),
          'group_member.record_id',
          one.val(groupId).as('group_id'),
          'group_member.reason',
          one.lit(0).as('is_done'),
        ])
        .where('group_member.group_id', '=', groupId)
        .where('record.status', '=', 'pending'),
    )
    .execute();
}

interface Moving {
  from: string;
  into: string;
  /** Move that stores the previous groups of the records; null when these are not needed. */
  move: string | null;
  /** Records to move; undefined means all. */
  recordIds?: readonly string[];
}

/** Moves all records and prints of a group into another one. */
export async function moveAll(transaction: Transaction, moving: Moving): Promise<void> {
  await moveRecords(transaction, moving);
  await transaction
    .updateTable('group_print')
    .set({ group_id: moving.into })
    .where('group_id', '=', moving.from)
    .execute();
}

export async function moveRecords(
  transaction: Transaction,
  { from, into, move, recordIds }: Moving,
): Promise<void> {
  if (move !== null)
    await transaction
      .insertInto('group_move_record')
      .columns(['move_id', 'record_id', 'group_id', 'reason', 'is_done'])
      .expression((eb) => {
        const all = eb
          .selectFrom('group_member')
          .select((one) => [
            one.val(move).as('move_id'),
            'record_id',
            one.val(from).as('group_id'),
            'reason',
            one.lit(0).as('is_done'),
          ])
          .where('group_id', '=', from);
        return recordIds === undefined ? all : all.where('record_id', 'in', textsIn(transaction, recordIds));
      })
      .execute();
  const moved = transaction
    .updateTable('group_member')
    .set({ group_id: into, reason: byPerson })
    .where('group_id', '=', from);
  await (
    recordIds === undefined ? moved : moved.where('record_id', 'in', textsIn(transaction, recordIds))
  ).execute();
}

/** Returns the time of the group's newest record, epoch ms, or 0 when it has no records. */
export async function findNewestTime(transaction: Transaction, groupId: string): Promise<number> {
  const row = await transaction
    .selectFrom('group_member')
    .select((eb) => eb.fn.max('record_id').as('id'))
    .where('group_id', '=', groupId)
    .executeTakeFirst();
  return typeof row?.id === 'string' ? timeOfUuidV7(row.id) : 0;
}

/** Moves the remaining records of a move back to their previous groups, with their previous reasons. */
export async function putBack(transaction: Transaction, { id }: StoredMove): Promise<void> {
  await transaction
    .updateTable('group_member')
    .from('group_move_record as before')
    .set((eb) => ({ group_id: eb.ref('before.group_id'), reason: eb.ref('before.reason') }))
    .whereRef('before.record_id', '=', 'group_member.record_id')
    .where('before.move_id', '=', id)
    .execute();
}

export const listPrintKeys = async (transaction: Transaction, groupId: string): Promise<string[]> => {
  const query = transaction.selectFrom('group_print').select('print_key').where('group_id', '=', groupId);
  return (await query.execute()).map(({ print_key: key }) => key);
};

/** Returns the keys of prints that only these members of the group have. */
export async function keysOnlyOf(
  transaction: Transaction,
  groupId: string,
  members: readonly { record_id: string; print_key: string | null }[],
): Promise<string[]> {
  const known = new Set(await listPrintKeys(transaction, groupId));
  const keys = [
    ...new Set(members.flatMap(({ print_key: key }) => (key !== null && known.has(key) ? [key] : []))),
  ];
  const leaving = members.map(({ record_id: id }) => id);
  const staying = await transaction
    .selectFrom('group_member')
    .select('print_key')
    .distinct()
    .where('group_id', '=', groupId)
    .where('record_id', 'not in', textsIn(transaction, leaving))
    .execute();
  const kept = new Set(staying.map(({ print_key: key }) => key));
  return keys.filter((key) => !kept.has(key));
}

/**
 * Moves the prints of a split. Screens become samples that other screens are compared with; crashes do not. Returns the
 * title that the first screen gives.
 */
export async function movePrints(
  transaction: Transaction,
  keys: readonly string[],
  { from, into }: { from: string; into: string },
): Promise<string | undefined> {
  const move = async (some: readonly string[], more: { is_sample?: 1 }): Promise<{ print: string }[]> =>
    transaction
      .updateTable('group_print')
      .set({ group_id: into, ...more })
      .where('group_id', '=', from)
      .where('print_key', 'in', textsIn(transaction, some))
      .returning('print')
      .execute();
  const crashes = keys.filter(isKeyOfCrash);
  if (crashes.length > 0) await move(crashes, {});
  const [moved] = await move(
    keys.filter((key) => !isKeyOfCrash(key)),
    { is_sample: 1 },
  );
  return moved && titleOf(readPrint(moved.print));
}

export async function setGroupOfPrints(
  transaction: Transaction,
  keys: readonly string[],
  { owner, into }: { owner: StoredGroup; into: string },
): Promise<void> {
  await transaction
    .updateTable('group_print')
    .set({ group_id: into })
    .where('owner_id', '=', owner.owner_id)
    .where('automation_id', '=', owner.automation_id)
    .where('print_key', 'in', textsIn(transaction, keys))
    .execute();
}
