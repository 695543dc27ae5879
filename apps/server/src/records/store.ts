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

const tablesOf = (from: Db) => from.withTables<Tables>();

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
  };
}
