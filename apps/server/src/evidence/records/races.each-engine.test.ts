import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Db } from '../../storage/db/database.ts';
import { transact } from '../../storage/db/transactions.ts';
import { openTestDatabase, engines } from '../../testing/engines/test-database.ts';
import { newRecord } from '../../testing/records/new-record.ts';
import { createBrowseStore } from './browse/browse-store.ts';
import { lockRecordsOf } from './retention/retention-store.ts';
import { createRecordStore } from './store.ts';

const retention = { limits: { debugPerTag: 200, others: 1000 }, nowMs: 0 };

/** Counts the transactions that wait for a lock. */
async function countWaiting(db: Db): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
  return rows[0]?.n ?? 0;
}

describe.each(engines)('in %s', (engine) => {
  it('of a hundred who mark a record at once, one does it', async () => {
    const store = createRecordStore(await openTestDatabase(engine));
    const record = newRecord();
    await store.insert(record, [], retention);
    const marks = Array.from({ length: 100 }, (_, caller) =>
      store.mark(record.id, caller % 2 === 0 ? 'solved' : 'skipped'),
    );
    const marked = (await Promise.all(marks)).filter((mark) => mark?.marked === true);
    expect(marked).toHaveLength(1);
    expect(await store.find(record.id)).toEqual(marked[0]?.record);
  });

  it('records that come at once are all counted', async () => {
    const db = await openTestDatabase(engine);
    const store = createRecordStore(db);
    const records = Array.from({ length: 300 }, newRecord);
    await Promise.all(records.map((record) => store.insert(record, [], retention)));
    const scopes = [{ ownerId: 'owner', automationId: null }];
    const filter = {
      type: undefined,
      status: undefined,
      isPartial: undefined,
      tag: undefined,
      deviceId: undefined,
      runId: undefined,
      fromId: undefined,
      untilId: undefined,
    };
    const page = await createBrowseStore(db).browse({
      visible: scopes,
      scopes,
      filter,
      wanted: { kind: 'newest' },
    });
    expect(page?.total).toBe(300);
  });

  it.runIf(engine === 'PostgreSQL')('a record that is being saved is not pushed out', async () => {
    const db = await openTestDatabase(engine);
    const store = createRecordStore(db);
    const keepOne = { limits: { debugPerTag: 1, others: 1 }, nowMs: 0 };
    const record = newRecord();
    await store.insert(record, [], keepOne);
    let inserted: Promise<unknown> | undefined;
    await transact(db, async (transaction) => {
      await transaction.updateTable('record').set({ saved: 1 }).where('id', '=', record.id).execute();
      inserted = store.insert(newRecord(), [], keepOne);
      await expect.poll(() => countWaiting(db)).toBe(1);
    });
    expect(await inserted).toEqual({ isNew: true, deleted: 0 });
    expect((await store.find(record.id))?.saved).toBe(1);
  });

  it.runIf(engine === 'PostgreSQL')(
    'a record is marked and saved while records of its automation come',
    async () => {
      const db = await openTestDatabase(engine);
      const store = createRecordStore(db);
      const record = newRecord();
      await store.insert(record, [], retention);
      await transact(db, async (transaction) => {
        await lockRecordsOf(transaction, record);
        expect((await store.mark(record.id, 'solved'))?.marked).toBe(true);
        expect((await store.save(record.id, true, retention))?.record.saved).toBe(1);
      });
    },
  );
});
