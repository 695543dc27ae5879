import { CompiledQuery } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { createAccessStore } from '../../http/access/store.ts';
import type { Db } from '../../storage/db/database.ts';
import { GroupCommit } from '../../storage/db/group-commit.ts';
import { createLaunchStore, type NewRun } from '../launches/store.ts';
import { openTestDatabase, engines } from '../../testing/engines/test-database.ts';
import { createLauncherStore, createRunStore, type RunFilter, type RunStore } from './store.ts';

const all: RunFilter = {
  userId: 'u',
  otherDeviceIds: [],
  automationIds: null,
  deviceId: undefined,
  automationId: undefined,
  launchId: undefined,
  launch: undefined,
  status: undefined,
  search: undefined,
  createdAfter: undefined,
  createdBefore: undefined,
  cursor: undefined,
  limit: 10,
};
const runOn = (deviceId: string, id: string): NewRun => ({
  id,
  launch: 'l',
  user_id: 'u',
  device_id: deviceId,
  device_owner_id: 'u',
  host_id: 'h',
  automation_id: 'a',
  project_name: null,
  launch_id: 'l',
  status: 'starting',
  stop_requested: 0,
  log_left: 0,
  outcome: null,
  commit: null,
  error_code: null,
  error_message: null,
  error_stack: null,
  dirty: null,
  created_at: 0,
  started_at: null,
  ended_at: null,
  epoch: null,
});
describe.each(engines)('%s', (engine) => {
  let db: Db;
  let runs: RunStore;

  const end = (id: string): Promise<unknown> =>
    db.executeQuery(
      CompiledQuery.raw(`UPDATE run SET status = 'completed', ended_at = 1 WHERE id = '${id}'`),
    );
  const listIds = async (filter: Partial<RunFilter>): Promise<string[]> =>
    (await runs.list({ ...all, ...filter })).runs.map(({ id }) => id);

  beforeEach(async () => {
    db = await openTestDatabase(engine);
    await createAccessStore(db).insertUser({ id: 'u', name: 'u', role: 'user', created_at: 0 });
    const commits = new GroupCommit(db);
    runs = createRunStore(db, commits);
    const launch = { id: 'l', user_id: 'u', launch_id: 'l', fingerprint: '', created_at: 0 };
    const about = { token_name: null, budget_token: null, token_limits: null, tree: null, parameters: null };
    const rows = ['1', '2', '3', '4', '5'].map((id) => runOn(id === '3' ? 'other' : 'phone', id));
    await commits.write((transaction) =>
      createLaunchStore(db, commits).insert(transaction, { ...launch, ...about }, rows),
    );
    await end('1');
    await end('4');
  });

  describe('the runs of a phone', () => {
    it('are one list, newest first, whether they have ended or not', async () => {
      expect(await listIds({ deviceId: 'phone' })).toEqual(['5', '4', '2', '1']);
    });

    it('go on after a cursor', async () => {
      expect(await listIds({ deviceId: 'phone', limit: 2 })).toEqual(['5', '4']);
      expect(await listIds({ deviceId: 'phone', limit: 2, cursor: '4' })).toEqual(['2', '1']);
    });

    it('are found by their status', async () => {
      expect(await listIds({ deviceId: 'phone', status: 'completed' })).toEqual(['4', '1']);
      expect(await listIds({ deviceId: 'phone', status: 'starting' })).toEqual(['5', '2']);
    });
  });

  describe('a search', () => {
    const fail = (id: string, message: string): Promise<unknown> =>
      db.executeQuery(
        CompiledQuery.raw(
          `UPDATE run SET error_code = 'uncaught_error', error_message = '${message}' WHERE id = '${id}'`,
        ),
      );

    it('finds the text of an error in either letter case, and takes signs of patterns as they are', async () => {
      await fail('2', 'Waited for 100% of "Checkout"');
      await fail('4', String.raw`no \ path, 100 of it`);
      expect(await listIds({ search: 'CHECKOUT' })).toEqual(['2']);
      expect(await listIds({ search: '100%' })).toEqual(['2']);
      expect(await listIds({ search: '\\' })).toEqual(['4']);
      expect(await listIds({ search: 'uncaught', deviceId: 'phone', status: 'completed' })).toEqual(['4']);
      expect(await listIds({ search: '_____________________' })).toEqual([]);
    });

    it('ends after so many runs, and says where it goes on', async () => {
      await fail('1', 'the oldest');
      const bounded = createRunStore(db, new GroupCommit(db), 3);
      const first = await bounded.list({ ...all, search: 'oldest' });
      expect(first).toEqual({ runs: [], searchedTo: '3' });
      const second = await bounded.list({ ...all, search: 'oldest', cursor: '3' });
      expect(second).toMatchObject({ runs: [{ id: '1' }], searchedTo: null });
    });
  });

  describe('the count of runs', () => {
    it('is of those that match, whatever the page has, and ends with the most that are counted', async () => {
      expect(await runs.count({ ...all, limit: 1 })).toEqual({ runs: 5, or_more: false });
      expect(await runs.count({ ...all, deviceId: 'phone' })).toEqual({ runs: 4, or_more: false });
      expect(await runs.count({ ...all, status: 'completed' })).toEqual({ runs: 2, or_more: false });
      expect(await runs.count(all, 5)).toEqual({ runs: 5, or_more: false });
      expect(await runs.count(all, 4)).toEqual({ runs: 4, or_more: true });
    });

    it('of a search is of the runs that it looks through', async () => {
      await db.executeQuery(CompiledQuery.raw("UPDATE run SET project_name = 'shop' WHERE id IN ('1', '4')"));
      expect(await runs.count({ ...all, search: 'shop' })).toEqual({ runs: 2, or_more: false });
      const bounded = createRunStore(db, new GroupCommit(db), 3);
      expect(await bounded.count({ ...all, search: 'shop' })).toEqual({ runs: 1, or_more: true });
      expect(await bounded.count({ ...all, search: 'nothing' })).toEqual({ runs: 0, or_more: true });
    });
  });

  it('the launcher of a run is its user, and the job and schedule of its first task', async () => {
    const common = `'u', 'p', 'p', '', 0, 0, 0, 0, '{}', '{}', 0, 0, 1`;
    const jobColumns = `user_id, project_id, project_name, fingerprint, is_distinct, is_exclusive, has_film, priority,
      parameters, retries, created_at, woken_at, waiting`;
    const attempt = (task: string, run: string, beganAt: number): string =>
      `INSERT INTO task_attempt VALUES ('${task}', 1, '${run}', 'phone', 0, ${beganAt}, NULL, '')`;
    for (const statement of [
      `INSERT INTO schedule (id, user_id, project_id, name, cron, time_zone, jitter_seconds, work, overlap, missed, paused, created_at)
        VALUES ('s', 'u', 'p', 'Nightly', '0 3 * * *', 'UTC', 0, '{}', 'skip', 'none', 0, 0)`,
      `INSERT INTO job (id, schedule_id, ${jobColumns}) VALUES ('planned', 's', ${common}), ('single', NULL, ${common}),
        ('orphan', 'gone', ${common})`,
      `INSERT INTO task (id, job_id, number, status) VALUES ('t1', 'planned', 1, 'waiting'), ('t2', 'single', 1, 'waiting'),
        ('t3', 'orphan', 1, 'waiting')`,
      attempt('t1', '5', 1),
      attempt('t2', '4', 1),
      attempt('t3', '3', 1),
      // A run that takes a second task, of another job.
      "INSERT INTO task_attempt VALUES ('t2', 2, '5', 'phone', 0, 2, NULL, '')",
    ])
      await db.executeQuery(CompiledQuery.raw(statement));
    const by = await createLauncherStore(db).list(['2', '3', '4', '5', 'none']);
    const ada = { user_id: 'u', user_name: 'u', token_name: null };
    expect(Object.fromEntries(by)).toEqual({
      2: { ...ada, job: null },
      3: { ...ada, job: { job_id: 'orphan', task_number: 1, schedule_id: 'gone', schedule_name: null } },
      4: { ...ada, job: { job_id: 'single', task_number: 1, schedule_id: null, schedule_name: null } },
      5: { ...ada, job: { job_id: 'planned', task_number: 1, schedule_id: 's', schedule_name: 'Nightly' } },
    });
  });

  it('the runs of a status are found among all', async () => {
    expect(await listIds({ status: 'starting' })).toEqual(['5', '3', '2']);
    expect(await listIds({})).toEqual(['5', '4', '3', '2', '1']);
  });
});
