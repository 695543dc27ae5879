import { describe, expect, it } from 'vitest';
import type { Db } from '../../../storage/db/database.ts';
import { claimWork } from '../../../storage/db/work-queue.ts';
import { engines, openTestDatabase } from '../../../testing/engines/test-database.ts';
import { newRecord } from '../../../testing/records/new-record.ts';
import { createRetentionStore } from '../retention/retention-store.ts';
import { createCaptureNotes, createRecordStore } from '../store.ts';
import type { StoredScreen } from '../stored-record.ts';
import { groupRecords, readFacts } from './enqueue-grouping.ts';
import { createJoiningStore, type Grouping } from './joining-store.ts';
import { createGroupStore } from './store.ts';

const limits = { debugPerTag: 1, others: 100 };

const screenOf = (recordId: string, position: number, tree: StoredScreen['tree']): StoredScreen => ({
  record_id: recordId,
  position,
  screen_id: `screen ${position}`,
  next_stage: '',
  screen_state: '',
  max_steps: 0,
  captured_at: 0,
  tree,
  screenshot: 'none',
  width: 1,
  height: 1,
  original_width: 1,
  original_height: 1,
  actions: null,
});

/** Stores a record with three screens, of which the second one decides the group. Returns its ID. */
async function addRecord(db: Db, tree: 'expected' | 'stored', addedAt: number): Promise<string> {
  const record = { ...newRecord(), added_at: addedAt, missing_captures: 2 };
  const screens = (['expected', tree, 'none'] as const).map((state, at) => screenOf(record.id, at, state));
  await createRecordStore(db).insert(record, screens, { commit: 'abc', limits, nowMs: 0 });
  return record.id;
}

async function claim(db: Db, now: number, until: number): Promise<Grouping[]> {
  const room = { all: 2, fullLanes: [], inLane: () => 2, itemsOfClaim: 10 };
  const claims = await claimWork(db, groupRecords, { now, until, room });
  return claims.flatMap((one) =>
    one.items.map((item) => ({ ...readFacts(item), record_id: item.key, claim: { ...one, items: [item] } })),
  );
}

describe.each(engines)('the grouping of records in %s', (engine) => {
  it('is due when the tree of the screen that decides has come, in the order of the records', async () => {
    const db = await openTestDatabase(engine);
    const notes = createCaptureNotes(db);
    const [waits, ready] = [await addRecord(db, 'expected', 1), await addRecord(db, 'stored', 2)];
    const putTree = (screenId: string) =>
      notes.captureStored(waits, screenId, { kind: 'tree', sizeBytes: 1 });
    await putTree('screen 0');
    expect((await claim(db, 10, 20)).map((one) => one.record_id)).toEqual([ready]);
    await putTree('screen 1');
    expect(await claim(db, 20, 30)).toMatchObject([
      { record_id: waits, screen_id: 'screen 1', commit_hash: 'abc' },
      { record_id: ready },
    ]);
  });

  it('is stored once, by the server that has the claim, and ends with the record', async () => {
    const db = await openTestDatabase(engine);
    const [store, groups] = [createJoiningStore(db), createGroupStore(db)];
    const [id, gone] = [await addRecord(db, 'stored', 1), await addRecord(db, 'stored', 2)];
    const late = await claim(db, 10, 20);
    const held = await claim(db, 20, 30);
    expect([late.length, held.length]).toEqual([2, 2]);
    await createRetentionStore(db).deleteOne(gone);
    expect([await groups.isWaiting(id), await groups.isWaiting(gone)]).toEqual([true, false]);
    const refuse = (all: readonly Grouping[], problem: string) =>
      Promise.all(all.map((one) => store.refuse(one, problem)));
    await refuse(late, 'late');
    expect(await groups.findMember(id)).toBeUndefined();
    await Promise.all([refuse(late, 'late'), refuse(held, 'held'), refuse(held, 'held')]);
    expect(await groups.findMember(id)).toMatchObject({ problem: 'held', commit_hash: 'abc' });
    expect(await groups.isWaiting(id)).toBe(false);
  });
});
