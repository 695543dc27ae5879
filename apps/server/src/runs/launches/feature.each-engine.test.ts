import { beforeAll, describe, expect, it } from 'vitest';
import { createAccessStore } from '../../http/access/store.ts';
import type { Db } from '../../storage/db/database.ts';
import { GroupCommit } from '../../storage/db/group-commit.ts';
import { ActiveRuns } from '../runs/active-runs.ts';
import { RunChangeStore } from '../runs/run-change-store.ts';
import { createRunStore } from '../runs/store.ts';
import { openTestDatabase, engines } from '../../testing/engines/test-database.ts';
import { deleteOldLaunches } from './feature.ts';
import { createLaunchStore } from './store.ts';
import { dayMs } from '@phalanx/timing/durations';

let db: Db;

const launches = () => createLaunchStore(db, new GroupCommit(db));
const runHistory = () => createRunStore(db, new GroupCommit(db));

async function insertLaunch(id: string, ageDays: number): Promise<void> {
  const launch = {
    id,
    user_id: 'u',
    launch_id: id,
    fingerprint: '',
    token_name: 'test',
    budget_token: null,
    token_limits: null,
    tree: null,
    parameters: '{}',
    created_at: Date.now() - ageDays * dayMs,
  };
  const run = {
    id: `run-${id}`,
    launch: id,
    user_id: 'u',
    device_id: 'd',
    device_owner_id: 'u',
    host_id: 'h',
    automation_id: id,
    project_name: null,
    launch_id: id,
    status: 'starting' as const,
    stop_requested: 0,
    log_left: 0,
    error_code: null,
    error_message: null,
    error_stack: null,
    outcome: null,
    commit: null,
    dirty: null,
    created_at: launch.created_at,
    started_at: null,
    ended_at: null,
    epoch: null,
  };
  await new GroupCommit(db).write((transaction) => launches().insert(transaction, launch, [run]));
}

const end = (id: string) =>
  new RunChangeStore(new GroupCommit(db), new ActiveRuns()).apply(
    [
      {
        runId: `run-${id}`,
        status: 'completed',
        error: null,
        outcome: null,
        result: '1',
        startedAt: 1,
        endedAt: 2,
      },
    ],
    null,
  );

describe.each(engines)('the history, in %s,', (engine) => {
  beforeAll(async () => {
    db = await openTestDatabase(engine);
    await createAccessStore(db).insertUser({ id: 'u', name: 'u', role: 'user', created_at: 0 });
  });

  it('loses ended launches beyond its days with their runs, keeps the young and the active, and lets others in between', async () => {
    for (let at = 0; at < 450; at += 1) {
      await insertLaunch(`old-${at}`, 31);
      await end(`old-${at}`);
    }
    await insertLaunch('active', 31);
    await insertLaunch('young', 29);
    await end('young');
    let turns = 0;
    const count = setInterval(() => (turns += 1), 0);
    await deleteOldLaunches(launches(), { clock: { now: () => Date.now() }, historyDays: 30 });
    clearInterval(count);
    expect(turns).toBeGreaterThan(0);
    const runs = runHistory();
    expect(await runs.find('run-old-0')).toBeUndefined();
    expect(await runs.find('run-old-449')).toBeUndefined();
    expect(await runs.find('run-active')).toBeDefined();
    expect(await runs.find('run-young')).toBeDefined();
    expect(await launches().find('u', 'old-7')).toBeUndefined();
  });
});
