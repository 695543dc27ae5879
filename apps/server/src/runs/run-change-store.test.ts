import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { createAccessStore } from '../access/store.ts';
import { openDatabase, type Db } from '../db/database.ts';
import { GroupCommit } from '../db/group-commit.ts';
import { createLaunchStore } from '../launches/store.ts';
import { activeRunOf, ActiveRuns } from './active-runs.ts';
import { RunChangeStore, type RunChange } from './run-change-store.ts';

const change = (runId: string, about: Partial<RunChange>): RunChange => ({
  ...{ runId, status: 'running', error: null, outcome: null, result: null, startedAt: 1, endedAt: null },
  ...about,
});
let folder: string;
let db: Db;
let changes: RunChangeStore;
let activeRuns: ActiveRuns;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'phalanx-run-changes-'));
  db = await openDatabase(path.join(folder, 'phalanx.db'));
  await createAccessStore(db).insertUser({ id: 'u', name: 'u', role: 'user', created_at: 0 });
  const commits = new GroupCommit(db);
  const launch = { id: 'l', user_id: 'u', launch_id: null, fingerprint: '', created_at: 0 };
  const about = { token_name: null, project_name: null, tree: null, parameters: null };
  const run = {
    ...{ launch: 'l', user_id: 'u', device_id: 'd', device_owner_id: 'u', host_id: 'h', automation_id: 'a' },
    ...{ launch_id: null, status: 'starting' as const, stop_requested: 0, outcome: null, commit: null },
    ...{ error_code: null, error_message: null, error_stack: null, dirty: null, created_at: 0 },
    ...{ started_at: null, ended_at: null },
  };
  const rows = ['one', 'two'].map((id) => ({ ...run, id }));
  await createLaunchStore(db, commits).insert({ ...launch, ...about }, rows, async () => undefined);
  activeRuns = new ActiveRuns();
  for (const row of rows) activeRuns.add(activeRunOf(row, null));
  changes = new RunChangeStore(commits, activeRuns);
});
afterEach(async () => {
  await db.destroy();
  await rm(folder, { recursive: true, force: true });
});

it('gives each caller of the same turn the runs that it has changed', async () => {
  const [first, second] = await Promise.all([
    changes.apply([change('one', {}), change('unknown', {})]),
    changes.apply([change('two', { status: 'failed', startedAt: null, endedAt: 2 })]),
  ]);
  expect(first).toMatchObject([{ id: 'one', status: 'running' }]);
  expect(second).toMatchObject([{ id: 'two', status: 'failed', started_at: null }]);
});

it('stores two changes of a run in the same turn one after the other, and an end is the last', async () => {
  const steps = [{}, { status: 'completed' as const, endedAt: 2 }, { status: 'failed' as const, endedAt: 3 }];
  const stored = await Promise.all(steps.map((about) => changes.apply([change('one', about)])));
  expect(stored.map(([row]) => row?.status)).toEqual(['running', 'completed', undefined]);
});

it('keeps the start of a run whose host no longer knows it', async () => {
  await changes.apply([change('one', { startedAt: 7 })]);
  const [row] = await changes.apply([change('one', { status: 'failed', startedAt: null, endedAt: 9 })]);
  expect(row).toMatchObject({ status: 'failed', started_at: 7, ended_at: 9 });
});
