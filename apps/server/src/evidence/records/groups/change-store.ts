import type { GroupStatus } from '@phalanx/protocol';
import { v7 as uuidv7 } from 'uuid';
import { change } from '../../../storage/db/change-note.ts';
import type { Db, Transaction } from '../../../storage/db/database.ts';
import { type Claim, finishIn } from '../../../storage/db/work-queue.ts';
import { textsIn } from '../../../storage/db/dialect.ts';
import { timeOfUuidV7 } from '../../../kernel/uuid-v7.ts';
import { lockRecordsOf } from '../retention/retention-store.ts';
import { enqueueMarking } from './marking-store.ts';
import { countMembers, type StoredGroup } from './membership-store.ts';
import * as moves from './moves-store.ts';

type MarkedAs = NonNullable<moves.StoredMove['mark']>;

/** Result of a change to groups. */
export interface Changed {
  groups: StoredGroup[];
  /**
   * ID of the move whose records are to be marked, if any; null for merges and splits. A mark that leaves its records
   * alone has a move without queued work.
   */
  move: string | null;
}

export interface Marking {
  status?: GroupStatus;
  assigneeId?: string | null;
  solvedCommit?: string | null;
  /** Status that pending records of the group get; null leaves them unchanged. */
  markedAs?: MarkedAs | null;
  /** Claim of the work that this change carries out. */
  claim?: Claim;
}

export type GroupChangeStore = ReturnType<typeof createGroupChangeStore>;

/** Creates the store of changes that users make to groups. Each change locks the records of the automation. */
export function createGroupChangeStore(db: Db) {
  return {
    /**
     * Marks a group. Returns undefined when the group was deleted or merged into another one, or when the claim was
     * lost.
     */
    mark: (id: string, marking: Marking, maker: moves.Maker): Promise<Changed | undefined> =>
      changing(db, id, async (transaction, group) => {
        const { status, assigneeId, solvedCommit = null, markedAs = null, claim } = marking;
        if (claim !== undefined && !(await finishIn(transaction, claim))) return undefined;
        const assigned = assigneeId === undefined ? {} : { assignee_id: assigneeId };
        if (status === undefined) return { groups: [await update(transaction, group, assigned)], move: null };
        const move = moves.newMove('mark', group.id, maker, { groups: [group], prints: {}, created: null });
        await moves.insertMove(transaction, { ...move, mark: markedAs });
        if (markedAs !== null) {
          await moves.notePending(transaction, move.id, group.id);
          await enqueueMarking(transaction, group, move.id);
        }
        const solved =
          status === 'solved'
            ? { solved_commit: solvedCommit, solved_at: maker.now, reopened_at: null, reopened_by: null }
            : {};
        const changed = await update(transaction, group, {
          ...assigned,
          ...solved,
          status,
          last_move: move.id,
        });
        return { groups: [changed], move: move.id };
      }),

    /**
     * Merges other groups into this one. Returns undefined when one of them no longer exists or belongs to another
     * automation.
     */
    merge: (id: string, others: readonly string[], maker: moves.Maker): Promise<Changed | undefined> =>
      changing(db, id, async (transaction, group) => {
        const sources: StoredGroup[] = [];
        for (const other of others) {
          const source = await findLiving(transaction, other);
          if (source === undefined || !isOfOneAutomation(source, group) || other === id) return undefined;
          sources.push(source);
        }
        const prints: moves.Before['prints'] = {};
        for (const { id: source } of sources) prints[source] = await moves.listPrintKeys(transaction, source);
        const before = { groups: [group, ...sources], prints, created: null };
        const move = moves.newMove('merge', id, maker, before);
        await moves.insertMove(transaction, move);
        for (const source of sources)
          await moves.moveAll(transaction, { from: source.id, into: id, move: move.id });
        const seen = {
          first_seen: Math.min(...before.groups.map((one) => one.first_seen)),
          last_seen: Math.max(...before.groups.map((one) => one.last_seen)),
        };
        return finishMove(transaction, before.groups, (one) =>
          one.id === id ? { ...seen, last_move: move.id } : { merged_into: id, last_move: move.id },
        );
      }),

    /**
     * Moves records into a new group. Returns undefined when one of them is not in the group, or when they are all of
     * its records.
     */
    split: (id: string, recordIds: readonly string[], maker: moves.Maker): Promise<Changed | undefined> =>
      changing(db, id, async (transaction, group) => {
        const members = await transaction
          .selectFrom('group_member')
          .select(['record_id', 'print_key'])
          .where('group_id', '=', id)
          .where('record_id', 'in', textsIn(transaction, recordIds))
          .execute();
        if (members.length < recordIds.length || members.length === group.records) return undefined;
        const created = { ...group, ...newPart(recordIds), records: 0, phones: 0 };
        await transaction.insertInto('record_group').values(created).execute();
        const keys = await moves.keysOnlyOf(transaction, id, members);
        const before = { groups: [group], prints: { [id]: keys }, created: created.id };
        const move = moves.newMove('split', id, maker, before);
        await moves.insertMove(transaction, move);
        await moves.moveRecords(transaction, { from: id, into: created.id, move: move.id, recordIds });
        const title = await moves.movePrints(transaction, keys, { from: id, into: created.id });
        return finishMove(transaction, [created, group], (one) => ({
          last_move: move.id,
          ...(one.id === created.id && title !== undefined ? { title } : {}),
        }));
      }),

    /**
     * Undoes the group's last change. Returns the reason as text when nothing can be undone, and undefined when the
     * group no longer exists.
     */
    undo: (id: string): Promise<Changed | string | undefined> =>
      changing(db, id, async (transaction, group) => {
        const move = await moves.findMove(transaction, group.last_move);
        if (move === undefined) return 'nothing was marked, merged or split since the last undo';
        const { groups, prints, created } = moves.readBefore(move);
        const partners = [...groups.map((one) => one.id), ...(created === null ? [] : [created])];
        if (!(await areUnchanged(transaction, partners, move.id)))
          return 'another group of its last merge or split has been changed since';
        const isMarked = move.mark !== null;
        await transaction.updateTable('group_move').set({ is_undone: 1 }).where('id', '=', move.id).execute();
        if (isMarked) await enqueueMarking(transaction, group, move.id);
        if (move.kind === 'mark') {
          const [before] = groups;
          const changed = before && (await update(transaction, group, markOf(before)));
          return { groups: changed === undefined ? [] : [changed], move: isMarked ? move.id : null };
        }
        if (created !== null)
          await moves.moveAll(transaction, { from: created, into: move.group_id, move: null });
        await moves.putBack(transaction, move);
        for (const [place, keys] of Object.entries(prints))
          await moves.setGroupOfPrints(transaction, keys, { owner: group, into: place });
        const newest = await moves.findNewestTime(transaction, move.group_id);
        return finishMove(transaction, await listGroups(transaction, partners), (one) => {
          const before = groups.find((other) => other.id === one.id);
          if (before === undefined) return { merged_into: move.group_id };
          const { first_seen, merged_into, last_move } = before;
          const joined = one.id === move.group_id ? newest : 0;
          return { first_seen, merged_into, last_move, last_seen: Math.max(before.last_seen, joined) };
        });
      }),

    findMove: (id: string | null): Promise<moves.StoredMove | undefined> => moves.findMove(db, id),
  };
}

/** Runs a change with all records of the automation locked. */
const changing = <Result>(
  db: Db,
  id: string,
  work: (transaction: Transaction, group: StoredGroup) => Promise<Result>,
): Promise<Result | undefined> =>
  change<Result | undefined>(
    db,
    async (transaction) => {
      const found = await findLiving(transaction, id);
      if (found === undefined) return undefined;
      await lockRecordsOf(transaction, found);
      const group = await findLiving(transaction, id);
      return group && work(transaction, group);
    },
    (result) => result !== undefined && typeof result !== 'string',
  );

const findLiving = (from: Db, id: string): Promise<StoredGroup | undefined> =>
  from
    .selectFrom('record_group')
    .selectAll()
    .where('id', '=', id)
    .where('merged_into', 'is', null)
    .executeTakeFirst();

const listGroups = (from: Db, ids: readonly string[]): Promise<StoredGroup[]> =>
  from.selectFrom('record_group').selectAll().where('id', 'in', ids).execute();

const isOfOneAutomation = (one: StoredGroup, other: StoredGroup): boolean =>
  one.owner_id === other.owner_id && one.automation_id === other.automation_id;

async function update(
  transaction: Transaction,
  group: StoredGroup,
  changes: Partial<StoredGroup>,
): Promise<StoredGroup> {
  if (Object.keys(changes).length > 0)
    await transaction.updateTable('record_group').set(changes).where('id', '=', group.id).execute();
  return { ...group, ...changes };
}

const markOf = (before: StoredGroup): Partial<StoredGroup> => {
  const { status, solved_commit, solved_at, reopened_at, reopened_by, last_move } = before;
  return { status, solved_commit, solved_at, reopened_at, reopened_by, last_move };
};

/** Returns the fields of a new group that is split off another one. */
function newPart(recordIds: readonly string[]): Partial<StoredGroup> & { id: string } {
  const times = recordIds.map((id) => timeOfUuidV7(id));
  return {
    id: uuidv7(),
    status: 'open',
    assignee_id: null,
    solved_commit: null,
    solved_at: null,
    reopened_at: null,
    reopened_by: null,
    first_version: null,
    first_seen: Math.min(...times),
    last_seen: Math.max(...times),
  };
}

async function areUnchanged(
  transaction: Transaction,
  ids: readonly string[],
  moveId: string,
): Promise<boolean> {
  const groups = await listGroups(transaction, ids);
  return groups.length === ids.length && groups.every((one) => one.last_move === moveId);
}

/** Applies the changes to all groups and recounts their members. */
async function finishMove(
  transaction: Transaction,
  groups: readonly StoredGroup[],
  changesOf: (group: StoredGroup) => Partial<StoredGroup>,
): Promise<Changed> {
  for (const group of groups) {
    await update(transaction, group, changesOf(group));
    await countMembers(transaction, group.id);
  }
  return {
    groups: await listGroups(
      transaction,
      groups.map(({ id }) => id),
    ),
    move: null,
  };
}
