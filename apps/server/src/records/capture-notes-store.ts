import type { CaptureKind } from '@phalanx/protocol';

import type { Db } from '../db/database.ts';
import { cellOf, kindOf } from './cells.ts';
import { treeStored } from './groups/membership-store.ts';
import { changeRecord, moveTo } from './store.ts';
import type { StoredRecord, StoredScreen } from './stored-record.ts';

/** What is noted of the captures of records: which are there, and which have to go. */
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

    /** A capture has arrived. Undefined: it was not expected, or the record is gone. */
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
        if (kind === 'tree') await treeStored(transaction, { recordId, screenId });
        const record = { ...before, missing_captures: before.missing_captures - 1 };
        await transaction
          .updateTable('record')
          .set((eb) => ({
            missing_captures: record.missing_captures,
            capture_bytes: eb('capture_bytes', '+', sizeBytes),
          }))
          .where('id', '=', recordId)
          .execute();
        if (record.missing_captures > 0 || record.has_gap === 1) return record;
        const cell = cellOf({ ...kindOf(record.cell), isPartial: false });
        await moveTo(transaction, record, cell);
        return { ...record, cell };
      }),

    async listDeletions(limit: number): Promise<string[]> {
      const rows = await db.selectFrom('capture_deletion').selectAll().limit(limit).execute();
      return rows.map((row) => row.record_id);
    },

    async endDeletion(recordId: string): Promise<void> {
      await db.deleteFrom('capture_deletion').where('record_id', '=', recordId).execute();
    },

    /** Those of the IDs that are records or runs. */
    async listKnown(ids: readonly string[]): Promise<Set<string>> {
      if (ids.length === 0) return new Set();
      const records = await db.selectFrom('record').select('id').where('id', 'in', ids).execute();
      const runs = await db.selectFrom('run').select('id').where('id', 'in', ids).execute();
      return new Set([...records, ...runs].map((row) => row.id));
    },
  };
}
