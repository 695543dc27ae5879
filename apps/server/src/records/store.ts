import type { CaptureKind, RecordStatus } from '@phalanx/protocol';
import { sql, type RawBuilder } from 'kysely';

import type { Db } from '../db/database.ts';
import { cellOf, debugCells, kindOf, otherCells } from './cells.ts';
import { listsOf } from './record-list.ts';
import { protectionEnd } from './record-times.ts';
import { addToTallies, countInLists, moveInTallies, removeFromTallies } from './tally-store.ts';

export interface StoredRecord {
  /** UUIDv7 of its time, in lower case. */
  id: string;
  /** Who owns the automation. */
  owner_id: string;
  automation_id: string;
  /** `null` for direct code. */
  project_id: string | null;
  run_id: string;
  /** Whose host made it and may send its captures. */
  user_id: string;
  device_id: string;
  /** JSON, as the API shows it. */
  device_info: string;
  automation_name: string;
  /** Type, status and completeness. */
  cell: number;
  tag: string;
  /** The records of an automation that are kept by one limit: the tag of debug records, empty for all others. */
  retention_group: string;
  saved: number;
  /** 1 when it stays partial, whatever still arrives. */
  has_gap: number;
  missing_captures: number;
  added_at: number;
}

export type CaptureState = 'none' | 'expected' | 'stored';

export interface StoredScreen {
  record_id: string;
  position: number;
  screen_id: string;
  next_stage: string;
  screen_state: string;
  max_steps: number;
  captured_at: number;
  tree: CaptureState;
  screenshot: CaptureState;
  width: number;
  height: number;
  original_width: number;
  original_height: number;
}

// A type, not an interface: only that has the index signature kysely asks for.
type Tables = {
  record: StoredRecord;
  record_screen: StoredScreen;
  capture_deletion: { record_id: string };
};

export interface RetentionLimits {
  /** Debug records that an automation keeps for each tag. */
  debugPerTag: number;
  /** Records of all other types together that an automation keeps. */
  others: number;
}

interface RetentionOptions {
  limits: RetentionLimits;
  nowMs: number;
}

/** One group of records that are kept by one limit. */
export type RetentionGroup = Pick<StoredRecord, 'owner_id' | 'automation_id' | 'retention_group'>;

export type RecordStore = ReturnType<typeof createRecordStore>;

const screensPerStatement = 50;

const tablesOf = (from: Db) => from.withTables<Tables>();

const find = (from: Db, id: string): Promise<StoredRecord | undefined> =>
  tablesOf(from).selectFrom('record').selectAll().where('id', '=', id).executeTakeFirst();

async function moveTo(transaction: Db, before: StoredRecord, cell: number): Promise<void> {
  await tablesOf(transaction).updateTable('record').set({ cell }).where('id', '=', before.id).execute();
  await moveInTallies(transaction, listsOf(before), { id: before.id, from: before.cell, to: cell });
}

async function remove(transaction: Db, record: StoredRecord): Promise<void> {
  await tablesOf(transaction).deleteFrom('record').where('id', '=', record.id).execute();
  await removeFromTallies(transaction, listsOf(record), record);
  await tablesOf(transaction).insertInto('capture_deletion').values({ record_id: record.id }).execute();
}

/** No two months are shorter: what is younger and saved is protected for sure. */
const shortestProtectionMs = 59 * 24 * 60 * 60 * 1000;
/** More go with the next call: a transaction of this length is not noticed by others. */
const deletionsPerTransaction = 100;

/** Those of the `surplus` oldest of a group that are not protected. */
async function listDoomed(
  transaction: Db,
  group: RetentionGroup,
  { surplus, nowMs }: { surplus: number; nowMs: number },
): Promise<StoredRecord[]> {
  const ofGroup = tablesOf(transaction)
    .selectFrom('record')
    .where('owner_id', '=', group.owner_id)
    .where('automation_id', '=', group.automation_id)
    .where('retention_group', '=', group.retention_group)
    .orderBy('id');
  const newest = await ofGroup
    .select('id')
    .offset(surplus - 1)
    .limit(1)
    .executeTakeFirst();
  const candidates = await ofGroup
    .selectAll()
    .where('id', '<=', newest?.id ?? '')
    .where((eb) => eb.or([eb('saved', '=', 0), eb('added_at', '<=', nowMs - shortestProtectionMs)]))
    .limit(deletionsPerTransaction)
    .execute();
  return candidates.filter((record) => record.saved === 0 || protectionEnd(record.added_at) <= nowMs);
}

/** Deletes what is older than the newest of the group that are kept, and not protected. Returns how many went. */
async function trim(
  transaction: Db,
  group: RetentionGroup,
  { limits, nowMs }: RetentionOptions,
): Promise<number> {
  const isDebug = group.retention_group !== '';
  const list = {
    ownerId: group.owner_id,
    automationId: group.automation_id,
    tag: isDebug ? group.retention_group : null,
  };
  const count = await countInLists(transaction, [list], isDebug ? debugCells : otherCells);
  const surplus = count - (isDebug ? limits.debugPerTag : limits.others);
  if (surplus <= 0) return 0;
  const doomed = await listDoomed(transaction, group, { surplus, nowMs });
  for (const record of doomed) await remove(transaction, record);
  return doomed.length;
}

/** Out-of-steps records with their screens. Whatever changes one changes the counts in the same transaction. */
export function createRecordStore(database: Db) {
  const db = tablesOf(database);
  const transact = <Result>(work: (transaction: Db) => Promise<Result>): Promise<Result> =>
    database.transaction().execute(work);

  return {
    find: (id: string): Promise<StoredRecord | undefined> => find(database, id),

    listScreens: (recordId: string): Promise<StoredScreen[]> =>
      db
        .selectFrom('record_screen')
        .selectAll()
        .where('record_id', '=', recordId)
        .orderBy('position')
        .execute(),

    /** Stores a record with all its screens, or nothing when the ID is taken, and keeps its group within its limit. */
    insert: (
      record: StoredRecord,
      screens: readonly StoredScreen[],
      retention: RetentionOptions,
    ): Promise<{ isNew: boolean; deleted: number }> =>
      transact(async (transaction) => {
        if ((await find(transaction, record.id)) !== undefined) return { isNew: false, deleted: 0 };
        await tablesOf(transaction).insertInto('record').values(record).execute();
        for (let first = 0; first < screens.length; first += screensPerStatement) {
          const rows = screens.slice(first, first + screensPerStatement);
          await tablesOf(transaction).insertInto('record_screen').values(rows).execute();
        }
        await addToTallies(transaction, listsOf(record), record);
        return { isNew: true, deleted: await trim(transaction, record, retention) };
      }),

    /** `marked` false: it had another status than pending, which is returned. Undefined: there is none. */
    mark: (
      id: string,
      status: RecordStatus,
    ): Promise<{ record: StoredRecord; marked: boolean } | undefined> =>
      transact(async (transaction) => {
        const record = await find(transaction, id);
        if (record === undefined) return undefined;
        const kind = kindOf(record.cell);
        if (kind.status !== 'pending') return { record, marked: false };
        const cell = cellOf({ ...kind, status });
        await moveTo(transaction, record, cell);
        return { record: { ...record, cell }, marked: true };
      }),

    /** What is no longer saved may have outlived its group's limit. Undefined: there is none. */
    save: (
      id: string,
      saved: boolean,
      retention: RetentionOptions,
    ): Promise<{ record: StoredRecord; deleted: number } | undefined> =>
      transact(async (transaction) => {
        const before = await find(transaction, id);
        if (before === undefined) return undefined;
        const record = { ...before, saved: saved ? 1 : 0 };
        if (before.saved !== record.saved) {
          await tablesOf(transaction)
            .updateTable('record')
            .set({ saved: record.saved })
            .where('id', '=', id)
            .execute();
        }
        return { record, deleted: saved ? 0 : await trim(transaction, record, retention) };
      }),

    async findScreen(recordId: string, screenId: string): Promise<StoredScreen | undefined> {
      return db
        .selectFrom('record_screen')
        .selectAll()
        .where('record_id', '=', recordId)
        .where('screen_id', '=', screenId)
        .executeTakeFirst();
    },

    /** A capture has arrived. Undefined: it was not expected, or the record is gone. */
    captureStored: (
      recordId: string,
      screenId: string,
      kind: CaptureKind,
    ): Promise<StoredRecord | undefined> =>
      transact(async (transaction) => {
        const { numUpdatedRows } = await tablesOf(transaction)
          .updateTable('record_screen')
          .set({ [kind]: 'stored' })
          .where('record_id', '=', recordId)
          .where('screen_id', '=', screenId)
          .where(kind, '=', 'expected')
          .executeTakeFirst();
        const before = await find(transaction, recordId);
        if (before === undefined || numUpdatedRows === 0n) return undefined;
        const record = { ...before, missing_captures: before.missing_captures - 1 };
        await tablesOf(transaction)
          .updateTable('record')
          .set({ missing_captures: record.missing_captures })
          .where('id', '=', recordId)
          .execute();
        if (record.missing_captures > 0 || record.has_gap === 1) return record;
        const cell = cellOf({ ...kindOf(record.cell), isPartial: false });
        await moveTo(transaction, record, cell);
        return { ...record, cell };
      }),

    trim: (group: RetentionGroup, retention: RetentionOptions): Promise<number> =>
      transact((transaction) => trim(transaction, group, retention)),

    /** Saved records after one of them, oldest first. */
    listSaved: (afterId: string, limit: number): Promise<StoredRecord[]> =>
      db
        .selectFrom('record')
        .selectAll()
        .where('saved', '=', 1)
        .where('id', '>', afterId)
        .orderBy('id')
        .limit(limit)
        .execute(),

    /** Deletes up to `limit` records of a project, saved or not. Returns how many went. */
    deleteSome: (projectId: string, limit: number): Promise<number> =>
      transact(async (transaction) => {
        const records = await tablesOf(transaction)
          .selectFrom('record')
          .selectAll()
          .where('project_id', '=', projectId)
          .limit(limit)
          .execute();
        for (const record of records) await remove(transaction, record);
        return records.length;
      }),

    /** A project that is gone and still has records. Jumps from project to project through the index. */
    async findLostProject(): Promise<string | undefined> {
      const next = (after: RawBuilder<unknown>) => sql`(
        select project_id from record where project_id > ${after} order by project_id limit 1)`;
      const { rows } = await sql<{ id: string }>`
        with recursive known(id) as (
          select ${next(sql`''`)}
          union all select ${next(sql.ref('known.id'))} from known where known.id is not null)
        select id from known where id is not null and id not in (select id from project) limit 1`.execute(
        database,
      );
      return rows[0]?.id;
    },

    async listDeletions(limit: number): Promise<string[]> {
      const rows = await db.selectFrom('capture_deletion').selectAll().limit(limit).execute();
      return rows.map((row) => row.record_id);
    },

    async endDeletion(recordId: string): Promise<void> {
      await db.deleteFrom('capture_deletion').where('record_id', '=', recordId).execute();
    },

    /** Those of the IDs that are records. */
    async listKnown(ids: readonly string[]): Promise<Set<string>> {
      if (ids.length === 0) return new Set();
      const rows = await db.selectFrom('record').select('id').where('id', 'in', ids).execute();
      return new Set(rows.map((row) => row.id));
    },
  };
}
