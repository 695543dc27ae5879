import type { RecordStatus } from '@phalanx/protocol';

import type { Db } from '../db/database.ts';
import { cellOf, kindOf } from './cells.ts';
import { listsOf } from './browse/record-list.ts';
import { trimGroup, type RetentionOptions } from './retention/retention-store.ts';
import type { StoredRecord, StoredScreen } from './stored-record.ts';
import { addToTallies, moveInTallies } from './browse/tally-store.ts';

// A type, not an interface: only that has the index signature kysely asks for.
type Tables = {
  record: StoredRecord;
  record_screen: StoredScreen;
};

export type RecordStore = ReturnType<typeof createRecordStore>;

const screensPerStatement = 50;

export const tablesOf = (from: Db) => from.withTables<Tables>();

export const findRecord = (from: Db, id: string): Promise<StoredRecord | undefined> =>
  tablesOf(from).selectFrom('record').selectAll().where('id', '=', id).executeTakeFirst();

export async function moveTo(transaction: Db, before: StoredRecord, cell: number): Promise<void> {
  await tablesOf(transaction).updateTable('record').set({ cell }).where('id', '=', before.id).execute();
  await moveInTallies(transaction, listsOf(before), { id: before.id, from: before.cell, to: cell });
}

/** Out-of-steps records with their screens. Whatever changes one changes the counts in the same transaction. */
export function createRecordStore(database: Db) {
  const db = tablesOf(database);
  const transact = <Result>(work: (transaction: Db) => Promise<Result>): Promise<Result> =>
    database.transaction().execute(work);

  return {
    find: (id: string): Promise<StoredRecord | undefined> => findRecord(database, id),

    /** The newest of them. */
    listOfRun: (runId: string, limit: number): Promise<StoredRecord[]> =>
      db
        .selectFrom('record')
        .selectAll()
        .where('run_id', '=', runId)
        .orderBy('id', 'desc')
        .limit(limit)
        .execute(),

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
        if ((await findRecord(transaction, record.id)) !== undefined) return { isNew: false, deleted: 0 };
        await tablesOf(transaction).insertInto('record').values(record).execute();
        for (let first = 0; first < screens.length; first += screensPerStatement) {
          const rows = screens.slice(first, first + screensPerStatement);
          await tablesOf(transaction).insertInto('record_screen').values(rows).execute();
        }
        await addToTallies(transaction, listsOf(record), record);
        return { isNew: true, deleted: await trimGroup(transaction, record, retention) };
      }),

    /** `marked` false: it had another status than pending, which is returned. Undefined: there is none. */
    mark: (
      id: string,
      status: RecordStatus,
    ): Promise<{ record: StoredRecord; marked: boolean } | undefined> =>
      transact(async (transaction) => {
        const record = await findRecord(transaction, id);
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
        const before = await findRecord(transaction, id);
        if (before === undefined) return undefined;
        const record = { ...before, saved: saved ? 1 : 0 };
        if (before.saved !== record.saved) {
          await tablesOf(transaction)
            .updateTable('record')
            .set({ saved: record.saved })
            .where('id', '=', id)
            .execute();
        }
        return { record, deleted: saved ? 0 : await trimGroup(transaction, record, retention) };
      }),
<<<<<<< HEAD

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
      transact((transaction) => trimGroup(transaction, group, retention)),

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
    deleteSome: (of: 'project_id' | 'owner_id', id: string, limit: number): Promise<number> =>
      transact(async (transaction) => {
        const records = await tablesOf(transaction)
          .selectFrom('record')
          .selectAll()
          .where(of, '=', id)
          .limit(limit)
          .execute();
        for (const record of records) await removeRecord(transaction, record);
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
=======
>>>>>>> 290d463 (house: records have rooms: intake, browse, retention; each of their stores is small)
  };
}
