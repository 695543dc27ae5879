import type { RecordStatus, CaptureKind } from '@phalanx/protocol';
import { change } from '../../storage/db/change-note.ts';
import type { Db, Transaction } from '../../storage/db/database.ts';
import { type AppVersionCount, countAppVersions } from '../../storage/db/app-versions.ts';
import { type OutboxEvent, addToOutbox } from '../../storage/db/webhook-outbox.ts';
import { transact } from '../../storage/db/transactions.ts';
import { metVersionOf, type StoredRecord, type StoredScreen } from './stored-record.ts';
import { enqueueGrouping, treeStored } from './groups/enqueue-grouping.ts';
import { lockRecordsOf, trimGroup, type RetentionOptions } from './retention/retention-store.ts';

export type RecordStore = ReturnType<typeof createRecordStore>;

const screensPerStatement = 50;

const findRecord = (from: Db, id: string): Promise<StoredRecord | undefined> =>
  from.selectFrom('record').selectAll().where('id', '=', id).executeTakeFirst();

/**
 * Changes a record under the lock of its row. `lock` takes further locks before that. Returns undefined when there is
 * no such record.
 */
const changeRecord = <Result>(
  db: Db,
  id: string,
  work: (transaction: Transaction, before: StoredRecord) => Promise<Result>,
  {
    lock = async () => undefined,
    isChange = () => true,
  }: {
    lock?: (transaction: Transaction, record: StoredRecord) => Promise<void>;
    isChange?: (result: Result) => boolean;
  } = {},
): Promise<Result | undefined> =>
  change<Result | undefined>(
    db,
    async (transaction) => {
      const found = await findRecord(transaction, id);
      if (found === undefined) return undefined;
      await lock(transaction, found);
      const row = transaction.selectFrom('record').selectAll().where('id', '=', id).forNoKeyUpdate();
      const before = await row.executeTakeFirst();
      return before && work(transaction, before);
    },
    (result) => result !== undefined && isChange(result),
  );

/** Outbox event of a new record. */
const newRecordEvent = (record: StoredRecord): OutboxEvent<'record.new'> => {
  const { owner_id: ownerId, automation_id: automationId } = record;
  return {
    at: record.added_at,
    data: {
      record_id: record.id,
      automation_id: automationId,
      automation_name: record.automation_name,
      run_id: record.run_id,
      device_id: record.device_id,
      type: record.type,
      tag: record.tag,
    },
    audience: { kind: 'record', ownerId, automationId, isDirect: record.project_id === null },
  };
};

/** Counts the record for its app version. Authors request `debug` records, so these say nothing about a version. */
function countOf(record: StoredRecord): AppVersionCount[] {
  const met = record.retention_group === '' ? metVersionOf(record) : undefined;
  return met === undefined ? [] : [{ ...met, at: record.added_at, records: 1 }];
}

/** Creates the store of out-of-steps records with their screens. */
export function createRecordStore(db: Db) {
  return {
    find: (id: string): Promise<StoredRecord | undefined> => findRecord(db, id),

    /** Lists the newest records of the run. */
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

    /**
     * Stores a record with all its screens, or nothing when the ID is taken. Trims its group to the retention limit.
     * `commit` is that of its run.
     */
    insert: (
      record: StoredRecord,
      screens: readonly StoredScreen[],
      { commit = null, ...retention }: RetentionOptions & { commit?: string | null },
    ): Promise<{ isNew: boolean; deleted: number }> =>
      transact(db, async (transaction) => {
        await lockRecordsOf(transaction, record);
        if ((await findRecord(transaction, record.id)) !== undefined) return { isNew: false, deleted: 0 };
        await transaction.insertInto('record').values(record).execute();
        for (let first = 0; first < screens.length; first += screensPerStatement) {
          const rows = screens.slice(first, first + screensPerStatement);
          await transaction.insertInto('record_screen').values(rows).execute();
        }
        await enqueueGrouping(transaction, record, { screens, commit });
        await addToOutbox(transaction, 'record.new', [newRecordEvent(record)]);
        await countAppVersions(transaction, countOf(record));
        return { isNew: true, deleted: await trimGroup(transaction, record, retention) };
      }),

    /**
     * Marks a pending record. `marked` is false when the record had another status, which is returned. Returns
     * undefined when there is no such record.
     */
    mark: (
      id: string,
      status: RecordStatus,
    ): Promise<{ record: StoredRecord; marked: boolean } | undefined> =>
      changeRecord(
        db,
        id,
        async (transaction, record) => {
          if (record.status !== 'pending') return { record, marked: false };
          await transaction.updateTable('record').set({ status }).where('id', '=', id).execute();
          return { record: { ...record, status }, marked: true };
        },
        { isChange: ({ marked }) => marked },
      ),

    /**
     * Saves or unsaves a record. An unsaved record that exceeds its group's limit may be deleted. Returns undefined
     * when there is no such record.
     */
    save: (
      id: string,
      saved: boolean,
      retention: RetentionOptions,
    ): Promise<{ record: StoredRecord; deleted: number } | undefined> =>
      changeRecord(
        db,
        id,
        async (transaction, before) => {
          const record = { ...before, saved: saved ? 1 : 0 };
          if (before.saved !== record.saved) {
            await transaction
              .updateTable('record')
              .set({ saved: record.saved })
              .where('id', '=', id)
              .execute();
          }
          return { record, deleted: saved ? 0 : await trimGroup(transaction, record, retention) };
        },
        saved ? {} : { lock: lockRecordsOf },
      ),
  };
}

/** Creates the store that tracks which captures of records are stored, and which must be deleted. */
export function createCaptureNotes(db: Db) {
  return {
    async findScreen(recordId: string, screenId: string): Promise<StoredScreen | undefined> {
      return db
        .selectFrom('record_screen')
        .selectAll()
        .where('record_id', '=', recordId)
        .where('screen_id', '=', screenId)
        .executeTakeFirst();
    },

    /** Marks a capture as stored. Returns undefined when it was not expected or the record was deleted. */
    captureStored: (
      recordId: string,
      screenId: string,
      { kind, sizeBytes }: { kind: CaptureKind; sizeBytes: number },
    ): Promise<StoredRecord | undefined> =>
      changeRecord(db, recordId, async (transaction, before) => {
        const { numUpdatedRows } = await transaction
          .updateTable('record_screen')
          .set({ [kind]: 'stored' })
          .where('record_id', '=', recordId)
          .where('screen_id', '=', screenId)
          .where(kind, '=', 'expected')
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return undefined;
        if (kind === 'tree') await treeStored(transaction, before, screenId);
        const missing = before.missing_captures - 1;
        const changes = {
          missing_captures: missing,
          is_partial: missing > 0 || before.has_gap === 1 ? 1 : 0,
          capture_bytes: before.capture_bytes + sizeBytes,
        };
        await transaction.updateTable('record').set(changes).where('id', '=', recordId).execute();
        return { ...before, ...changes };
      }),

    /** Returns the IDs that belong to records or runs. */
    async listKnown(ids: readonly string[]): Promise<Set<string>> {
      if (ids.length === 0) return new Set();
      const records = await db.selectFrom('record').select('id').where('id', 'in', ids).execute();
      const runs = await db.selectFrom('run').select('id').where('id', 'in', ids).execute();
      return new Set([...records, ...runs].map((row) => row.id));
    },
  };
}
