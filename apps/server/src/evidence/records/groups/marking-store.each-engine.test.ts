import { describe, expect, it } from 'vitest';
import type { Db } from '../../../storage/db/database.ts';
import { type Claim, claimWork } from '../../../storage/db/work-queue.ts';
import { engines, openTestDatabase } from '../../../testing/engines/test-database.ts';
import { newRecord } from '../../../testing/records/new-record.ts';
import { createGroupChangeStore } from './change-store.ts';
import { createMarkingStore, markRecords } from './marking-store.ts';

const groupId = 'group';
const recordCount = 250;

async function addGroup(db: Db): Promise<void> {
  const records = Array.from({ length: recordCount }, newRecord);
  await db.insertInto('record').values(records).execute();
  await db
    .insertInto('record_group')
    .values({
      id: groupId,
      owner_id: 'owner',
      automation_id: 'automation',
      project_id: null,
      automation_name: 'shop',
      package_name: '',
      title: '',
      next_stage: '',
      screen_state: '',
      status: 'open',
      assignee_id: null,
      solved_commit: null,
      solved_at: null,
      reopened_at: null,
      reopened_by: null,
      records: recordCount,
      phones: 1,
      first_seen: 0,
      last_seen: 0,
      merged_into: null,
      last_move: null,
      first_version: null,
    })
    .execute();
  const members = records.map(({ id }) => ({
    record_id: id,
    group_id: groupId,
    screen_id: '',
    device_id: 'device',
    print_key: null,
    reason: null,
    problem: '',
    is_outdated: 0,
    commit_hash: null,
    app_version: null,
    language: null,
  }));
  await db.insertInto('group_member').values(members).execute();
}

async function claim(db: Db, now: number): Promise<Claim> {
  const room = { all: 1, fullLanes: [], inLane: () => 1, itemsOfClaim: 1 };
  const [one] = await claimWork(db, markRecords, { now, until: now + 10, room });
  if (one === undefined) throw new Error('nothing is due');
  return one;
}

const countPending = async (db: Db): Promise<number> =>
  (await db.selectFrom('record').select('id').where('status', '=', 'pending').execute()).length;

describe.each(engines)('the marks that a group gives its records in %s', (engine) => {
  it('are finished by another server when the claim of the first one has run out, and undone from where they are', async () => {
    const db = await openTestDatabase(engine);
    await addGroup(db);
    const [groups, store] = [createGroupChangeStore(db), createMarkingStore(db)];
    const maker = { userId: 'owner', now: 0 };
    const marked = await groups.mark(groupId, { status: 'solved', markedAs: 'solved' }, maker);
    const move = marked?.move ?? '';
    const dead = await claim(db, 0);
    expect(await store.step(move, dead, 10)).toMatchObject({ isLast: false });
    expect(await countPending(db)).toBe(150);
    const other = await claim(db, 10);
    expect(await store.step(move, dead, 30)).toEqual({ changed: [], isLast: true });
    expect((await store.step(move, other, 20)).changed).toHaveLength(100);
    expect(await countPending(db)).toBe(50);
    expect(await groups.undo(groupId)).toMatchObject({ move });
    for (let isLast = false; !isLast;) ({ isLast } = await store.step(move, other, 20));
    expect(await countPending(db)).toBe(recordCount);
    await db.deleteFrom('record_group').execute();
    expect(await db.selectFrom('work').select('key').where('kind', '=', markRecords).execute()).toEqual([]);
  });
});
