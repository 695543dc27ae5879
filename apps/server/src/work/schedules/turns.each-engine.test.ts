import { beforeEach, describe, expect, it } from 'vitest';
import { createAccessStore } from '../../http/access/store.ts';
import type { Db } from '../../storage/db/database.ts';
import { type Claim, claimWork } from '../../storage/db/work-queue.ts';
import { engines, openTestDatabase } from '../../testing/engines/test-database.ts';
import { createJobStore, type NewJob } from '../jobs/store.ts';
import { makeScheduledJobs } from './enqueue-turn.ts';
import { createScheduleStore, endTurn, type ScheduleStore, type StoredSchedule } from './store.ts';

const schedule: StoredSchedule = {
  id: 'schedule',
  user_id: 'u',
  project_id: 'p',
  token_name: null,
  token_projects: null,
  token_phones: null,
  token_budget: null,
  name: '',
  cron: '* * * * *',
  time_zone: 'UTC',
  jitter_seconds: 0,
  work: '{}',
  overlap: 'skip',
  missed: 'none',
  paused: 0,
  problem: '',
  queued_at: null,
  created_at: 0,
  bytes: 0,
};

const jobOf = (id: string): NewJob => ({
  id,
  user_id: 'u',
  project_id: 'p',
  project_name: '',
  token_name: null,
  token_projects: null,
  token_phones: null,
  token_budget: null,
  dedup_key: null,
  fingerprint: '',
  selector: null,
  device_ids: null,
  count: null,
  at_once: null,
  is_distinct: 0,
  is_exclusive: 0,
  has_film: 0,
  phone_settings: null,
  priority: 0,
  concurrency_key: null,
  concurrency_most: null,
  parameters: '{}',
  retries: '{}',
  wait_until: null,
  schedule_id: schedule.id,
  created_at: 0,
  ended_at: null,
  cancelled_at: null,
  waiting: 1,
  bytes: 0,
});

const first = { planned_at: 60, due_at: 61 };
const second = { planned_at: 120, due_at: 121 };

describe.each(engines)('a turn of a schedule in %s', (engine) => {
  let db: Db;
  let store: ScheduleStore;
  beforeEach(async () => {
    db = await openTestDatabase(engine);
    await createAccessStore(db).insertUser({ id: 'u', name: 'u', role: 'user', created_at: 0 });
    store = createScheduleStore(db);
    await store.insert(schedule, first, 10);
  });

  async function claim(now: number): Promise<Claim> {
    const room = { all: 1, fullLanes: [], inLane: () => 1, itemsOfClaim: 1 };
    const [one] = await claimWork(db, makeScheduledJobs, { now, until: now + 10, room });
    if (one === undefined) throw new Error('nothing is due');
    return one;
  }

  /** Makes the job of the first turn, which ends the turn. */
  const make = (id: string, held: Claim) =>
    createJobStore(db).insert(jobOf(id), [], 10, (transaction, jobId) =>
      endTurn(transaction, {
        schedule,
        claim: held,
        changes: {},
        turns: [{ id, schedule_id: schedule.id, planned_at: 60, at: 61, job_id: jobId, reason: '' }],
        next: second,
        lookAt: 0,
      }),
    );
  const listJobs = async () => (await db.selectFrom('job').select('id').execute()).map(({ id }) => id);
  const listWork = () => db.selectFrom('work').select(['due_at', 'claimed_until']).execute();

  it('is one job, whichever of the servers that are at it is the first', async () => {
    const [late, held] = [await claim(61), await claim(71)];
    await Promise.all([make('a', late), make('b', held), make('c', held)]);
    const jobs = await listJobs();
    expect(jobs).toHaveLength(1);
    expect(['b', 'c']).toContain(jobs[0]);
    expect(await store.listTurns(schedule.id, undefined, 10)).toMatchObject([{ job_id: jobs[0] }]);
    expect(await listWork()).toEqual([{ due_at: 121, claimed_until: 0 }]);
  });

  it('that is changed while it is made makes no job before it is made as it is now', async () => {
    const held = await claim(61);
    await store.update(schedule.id, { changes: { name: 'later' }, next: 'same', now: 62 });
    expect(await make('a', held)).toBe('turn_gone');
    expect([await listJobs(), await listWork()]).toEqual([[], [{ due_at: 61, claimed_until: 0 }]]);
    expect(await make('b', await claim(62))).toMatchObject({ id: 'b' });
    expect(await listWork()).toEqual([{ due_at: 121, claimed_until: 0 }]);
  });

  it('goes with a pause or with the schedule, and no attempt stores anything after that', async () => {
    const held = await claim(61);
    await store.update(schedule.id, { changes: { paused: 1 }, next: second, now: 62 });
    expect([await make('a', held), await listWork()]).toEqual(['turn_gone', []]);
    await store.update(schedule.id, { changes: { paused: 0 }, next: second, now: 62 });
    const again = await claim(121);
    await store.delete(schedule.id);
    expect([await make('b', again), await listWork(), await listJobs()]).toEqual(['turn_gone', [], []]);
  });
});
