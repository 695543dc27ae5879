import { beforeEach, describe, expect, it } from 'vitest';
import { createAccessStore } from '../../http/access/store.ts';
import type { Db } from '../../storage/db/database.ts';
import { EpochOver } from '../../storage/db/epochs.ts';
import { GroupCommit } from '../../storage/db/group-commit.ts';
import { createLaunchStore } from '../launches/store.ts';
import { openTestDatabase, engines } from '../../testing/engines/test-database.ts';
import { openHost } from '../../testing/fleet-rows.ts';
import { activeRunOf, ActiveRuns } from './active-runs.ts';
import { RunChangeStore, type RunChange } from './run-change-store.ts';
import { createRunStore } from './store.ts';

const run = {
  launch: 'l',
  user_id: 'u',
  device_id: 'd',
  device_owner_id: 'u',
  host_id: 'h',
  automation_id: 'a',
  project_name: null,
  launch_id: null,
  status: 'starting' as const,
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
};
const change = (runId: string, about: Partial<RunChange>): RunChange => ({
  runId,
  status: 'running',
  error: null,
  outcome: null,
  result: null,
  startedAt: 1,
  endedAt: null,
  ...about,
});
describe.each(engines)('%s', (engine) => {
  let changes: RunChangeStore;
  let activeRuns: ActiveRuns;
  let db: Db;

  beforeEach(async () => {
    db = await openTestDatabase(engine);
    await createAccessStore(db).insertUser({ id: 'u', name: 'u', role: 'user', created_at: 0 });
    const commits = new GroupCommit(db);
    const launch = { id: 'l', user_id: 'u', launch_id: null, fingerprint: '', created_at: 0 };
    const about = { token_name: null, budget_token: null, token_limits: null, tree: null, parameters: null };
    const rows = ['one', 'two'].map((id) => ({ ...run, id, device_id: id }));
    await commits.write((transaction) =>
      createLaunchStore(db, commits).insert(transaction, { ...launch, ...about }, rows),
    );
    activeRuns = new ActiveRuns();
    for (const row of rows) activeRuns.add(activeRunOf(row, null));
    changes = new RunChangeStore(commits, activeRuns);
  });

  it('gives each caller of the same turn the runs that it has changed', async () => {
    const [first, second] = await Promise.all([
      changes.apply([change('one', {}), change('unknown', {})], null),
      changes.apply([change('two', { status: 'failed', startedAt: null, endedAt: 2 })], null),
    ]);
    expect(first).toMatchObject([{ id: 'one', status: 'running' }]);
    expect(second).toMatchObject([{ id: 'two', status: 'failed', started_at: null }]);
  });

  it('stores two changes of a run in the same turn one after the other, and an end is the last', async () => {
    const steps = [
      {},
      { status: 'completed' as const, endedAt: 2 },
      { status: 'failed' as const, endedAt: 3 },
    ];
    const stored = await Promise.all(steps.map((about) => changes.apply([change('one', about)], null)));
    expect(stored.map(([row]) => row?.status)).toEqual(['running', 'completed', undefined]);
  });

  it('keeps the start of a run whose host no longer knows it', async () => {
    await changes.apply([change('one', { startedAt: 7 })], null);
    const [row] = await changes.apply(
      [change('one', { status: 'failed', startedAt: null, endedAt: 9 })],
      null,
    );
    expect(row).toMatchObject({ status: 'failed', started_at: 7, ended_at: 9 });
  });

  it('takes nothing of a connection that a newer one has replaced, and all of others in the same turn', async () => {
    const earlier = await openHost(db, { userId: 'u', hostId: 'h' });
    const epoch = await openHost(db, { userId: 'u', hostId: 'h' });
    const late = changes.apply([change('one', {})], earlier);
    const stored = changes.apply([change('two', {})], epoch);
    await expect(late).rejects.toThrow(EpochOver);
    expect(await stored).toMatchObject([{ id: 'two', status: 'running' }]);
    expect(await createRunStore(db, new GroupCommit(db)).find('one')).toMatchObject({ status: 'starting' });
  });
});
