import type { GroupStatus, GroupVerdict, RecordGroup } from '@phalanx/protocol';
import { type ReferenceExpression, sql } from 'kysely';
import type { Db } from '../../../storage/db/database.ts';
import { transact } from '../../../storage/db/transactions.ts';
import type { Database } from '../../../storage/db/tables/tables.ts';
import { findWork } from '../../../storage/db/work-queue.ts';
import type { ReviewScope, StoredRecord, StoredScreen } from '../stored-record.ts';
import { groupRecords } from './enqueue-grouping.ts';
import { markRecords } from './marking-store.ts';
import type { GroupMember, StoredGroup } from './membership-store.ts';

/** Record of a group with the screen that decided its group. */
export interface ShownMember {
  member: GroupMember;
  record: StoredRecord;
  screen: StoredScreen;
}

export interface GroupCursor {
  value: number;
  id: string;
}

export interface GroupFilter {
  scopes: readonly ReviewScope[];
  status: GroupStatus | undefined;
  assigneeId: string | undefined;
  sort: 'last_seen' | 'records';
  cursor: GroupCursor | undefined;
  limit: number;
}

/** Maximum number of newest members of a group that are searched for one member per phone. */
const newestMembers = 300;
const groupsPerStep = 100;
/** Maximum number of newest members of a group whose versions and languages are counted. */
const countedMembers = 5000;
/** Maximum number of versions or languages that are listed. */
const maxCounts = 50;
/** Maximum number of merges that are followed from one group to the next. */
const maxMerges = 20;

export type GroupStore = ReturnType<typeof createGroupStore>;

/** Counts the newest records of a group by value. */
const countMembers = (db: Db, groupId: string, column: 'app_version' | 'language') =>
  db
    .selectFrom(
      db
        .selectFrom('group_member')
        .select(`${column} as value`)
        .where('group_id', '=', groupId)
        .orderBy('record_id', 'desc')
        .limit(countedMembers)
        .as('newest'),
    )
    .select((eb) => ['value', eb.fn.countAll<number>().as('records')])
    .groupBy('value')
    .orderBy('records', 'desc')
    .orderBy((eb) => eb.fn.coalesce('value', sql.lit('')), 'desc')
    .limit(maxCounts)
    .execute();

/** Creates the store that reads and deletes groups of records. */
export function createGroupStore(db: Db) {
  const show = async (members: readonly GroupMember[]): Promise<ShownMember[]> => {
    if (members.length === 0) return [];
    const ids = members.map(({ record_id: id }) => id);
    const records = await db.selectFrom('record').selectAll().where('id', 'in', ids).execute();
    const screens = await db
      .selectFrom('record_screen')
      .selectAll()
      .where('record_id', 'in', ids)
      .where(
        'screen_id',
        'in',
        members.map(({ screen_id: id }) => id),
      )
      .execute();
    const recordOf = new Map(records.map((record) => [record.id, record]));
    const screenOf = new Map(screens.map((screen) => [`${screen.record_id} ${screen.screen_id}`, screen]));
    return members.flatMap((member) => {
      const record = recordOf.get(member.record_id);
      const screen = screenOf.get(`${member.record_id} ${member.screen_id}`);
      return record === undefined || screen === undefined ? [] : [{ member, record, screen }];
    });
  };

  return {
    /** Finds the group, or the one that has its records after merges. */
    async find(id: string): Promise<StoredGroup | undefined> {
      for (let wanted = id, steps = 0; steps < maxMerges; steps += 1) {
        const query = db.selectFrom('record_group').selectAll().where('id', '=', wanted);
        const group = await query.executeTakeFirst();
        if (group === undefined || group.merged_into === null) return group;
        wanted = group.merged_into;
      }
      return undefined;
    },

    list: async ({
      scopes,
      status,
      assigneeId,
      sort,
      cursor,
      limit,
    }: GroupFilter): Promise<StoredGroup[]> => {
      if (scopes.length === 0) return [];
      let query = db
        .selectFrom('record_group')
        .selectAll()
        .where('merged_into', 'is', null)
        .where((eb) =>
          eb.or(
            scopes.map(({ ownerId, automationId }) =>
              automationId === null
                ? eb('owner_id', '=', ownerId)
                : eb.and([eb('owner_id', '=', ownerId), eb('automation_id', '=', automationId)]),
            ),
          ),
        );
      if (status !== undefined) query = query.where('status', '=', status);
      if (assigneeId !== undefined) query = query.where('assignee_id', '=', assigneeId);
      const column: ReferenceExpression<Database, 'record_group'> = sort;
      if (cursor !== undefined)
        query = query.where((eb) => eb(eb.refTuple(column, 'id'), '<', eb.tuple(cursor.value, cursor.id)));
      return query.orderBy(column, 'desc').orderBy('id', 'desc').limit(limit).execute();
    },

    /** Finds the newest record of each group. */
    async mapSamples(groupIds: readonly string[]): Promise<Map<string, ShownMember>> {
      if (groupIds.length === 0) return new Map();
      const newest = db
        .selectFrom('group_member')
        .select((eb) => eb.fn.max('record_id').as('id'))
        .where('group_id', 'in', groupIds)
        .groupBy('group_id');
      const rows = await db.selectFrom('group_member').selectAll().where('record_id', 'in', newest).execute();
      return new Map((await show(rows)).map((shown) => [shown.member.group_id ?? '', shown]));
    },

    /** Lists the newest record of each phone, among the newest records of the group. */
    async listPhones(groupId: string, limit: number): Promise<ShownMember[]> {
      const rows = await db
        .selectFrom('group_member')
        .selectAll()
        .where('group_id', '=', groupId)
        .orderBy('record_id', 'desc')
        .limit(newestMembers)
        .execute();
      const first = new Map(rows.toReversed().map((row) => [row.device_id, row]));
      return show(rows.filter((row) => first.get(row.device_id) === row).slice(0, limit));
    },

    async listMembers(groupId: string, cursor: string | undefined, limit: number): Promise<ShownMember[]> {
      let query = db.selectFrom('group_member').selectAll().where('group_id', '=', groupId);
      if (cursor !== undefined) query = query.where('record_id', '<', cursor);
      return show(await query.orderBy('record_id', 'desc').limit(limit).execute());
    },

    countVersions: async (groupId: string) =>
      (await countMembers(db, groupId, 'app_version')).map(({ value, records }) => ({
        version: value,
        records,
      })),

    countLanguages: async (groupId: string) =>
      (await countMembers(db, groupId, 'language')).map(({ value, records }) => ({
        language: value,
        records,
      })),

    findMember: (recordId: string): Promise<GroupMember | undefined> =>
      db.selectFrom('group_member').selectAll().where('record_id', '=', recordId).executeTakeFirst(),

    /** Whether the record waits to be grouped: the tree of its last screen is stored or expected. */
    isWaiting: async (recordId: string): Promise<boolean> =>
      (await findWork(db, groupRecords, recordId)) !== undefined,

    async findUserName(userId: string): Promise<string> {
      const query = db.selectFrom('user').select('name').where('id', '=', userId);
      return (await query.executeTakeFirst())?.name ?? '';
    },

    /**
     * Deletes a batch of groups without records: those of deleted projects, and those last seen before `emptySince`.
     * Also deletes moves made before `movesBefore` without queued work. Returns the number of deleted groups.
     */
    deleteSome: (emptySince: number, movesBefore: number): Promise<number> =>
      transact(db, async (transaction) => {
        await transaction
          .deleteFrom('group_move')
          .where('made_at', '<', movesBefore)
          .where('id', 'not in', (eb) => eb.selectFrom('work').select('key').where('kind', '=', markRecords))
          .execute();
        const ids = sql<string>`(select id from record_group
          where (project_id is not null and project_id not in (select id from project) and records = 0)
            or (records = 0 and last_seen < ${emptySince}) limit ${groupsPerStep})`;
        const { numDeletedRows } = await transaction
          .deleteFrom('record_group')
          .where('id', 'in', ids)
          .executeTakeFirst();
        return Number(numDeletedRows);
      }),

    /** Deletes the groups of a project or an owner. Call it after their records are deleted. */
    deleteOf: async (of: 'project_id' | 'owner_id', id: string): Promise<void> => {
      await db.deleteFrom('record_group').where(of, '=', id).where('records', '=', 0).execute();
    },
  };
}

type Proof = RecordGroup['proved'];

/** Maximum number of verdicts per group and replay. No group reaches it, because each has fewer screens. */
const maxVerdicts = 100;

/** Counts the outcomes of a group's screens in the last replay of saved code. */
export async function findNewestVerdict(db: Db, groupId: string): Promise<GroupVerdict | null> {
  const replay = await db
    .selectFrom('replay')
    .selectAll()
    .where('status', '=', 'done')
    .where('is_draft', '=', 0)
    .where('id', 'in', (eb) =>
      eb.selectFrom('replay_verdict').select('replay_id').where('group_id', '=', groupId),
    )
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (replay === undefined) return null;
  const outcomes = await listOutcomes(db, groupId, replay.id);
  const count = (wanted: readonly string[]): number =>
    outcomes.filter((outcome) => wanted.includes(outcome)).length;
  return {
    replay_id: replay.id,
    commit: replay.commit_hash,
    cause: replay.cause,
    ended_at: replay.ended_at ?? replay.created_at,
    screens: outcomes.length,
    handled: count(['handled']),
    known: count(['handled', 'recognised']),
    not_told: count(['not_told']),
  };
}

/** Maps each solved group to whether its solving commit handles all of its screens, as far as a replay has shown it. */
export async function mapProofs(db: Db, groups: readonly StoredGroup[]): Promise<Map<string, Proof>> {
  const proofs = new Map<string, Proof>();
  for (const { id, project_id: projectId, solved_commit: commit, status } of groups) {
    if (status !== 'solved' || projectId === null || commit === null) continue;
    const replay = await db
      .selectFrom('replay')
      .select('id')
      .where('project_id', '=', projectId)
      .where('commit_hash', '=', commit)
      .where('screen_set', '=', 'all')
      .where('group_id', 'is', null)
      .where('status', '=', 'done')
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (replay !== undefined) proofs.set(id, proofOf(await listOutcomes(db, id, replay.id)));
  }
  return proofs;
}

function proofOf(outcomes: readonly string[]): Proof {
  if (outcomes.length === 0) return null;
  if (outcomes.every((outcome) => outcome === 'handled')) return 'yes';
  return outcomes.some((outcome) => outcome !== 'not_told' && outcome !== 'handled')
    ? 'no'
    : 'not_replayable';
}

async function listOutcomes(db: Db, groupId: string, replayId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('replay_verdict')
    .select('outcome')
    .where('group_id', '=', groupId)
    .where('replay_id', '=', replayId)
    .limit(maxVerdicts)
    .execute();
  return rows.map(({ outcome }) => outcome);
}
