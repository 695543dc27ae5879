import { describe, expect, it } from 'vitest';
import { createAccessStore } from '../../http/access/store.ts';
import { dayMs } from '@phalanx/timing/durations';
import type { Db } from '../../storage/db/database.ts';
import type { Row } from '../../storage/db/tables/tables.ts';
import { addRun } from '../../testing/fleet-rows.ts';
import { openTestDatabase, engines } from '../../testing/engines/test-database.ts';
import { createStatsStore } from './store.ts';

const day = 20_000;
const at = day * dayMs;

describe.each(engines)('counts of runs, in %s,', (engine) => {
  const update = (db: Db, id: string, changes: Partial<Row<'run'>>) =>
    db.updateTable('run').set(changes).where('id', '=', id).execute();

  it('have each run once, as it ended last, and stay when the runs are deleted', async () => {
    const db = await openTestDatabase(engine);
    const store = createStatsStore(db);
    const list = () => store.listOfDay(day, { userId: 'u', otherDeviceIds: [] });
    await createAccessStore(db).insertUser({ id: 'u', name: 'u', role: 'user', created_at: 0 });
    // A phone runs an automation at most once at a time.
    const begin = async (id: string, launchId: string | null) => {
      await addRun(db, id);
      await update(db, id, { created_at: at, started_at: at + 500, launch_id: launchId });
    };
    await begin('one', null);
    expect(await list()).toEqual([]);
    const lost = { status: 'lost', error_code: 'lost', ended_at: at + 1000 } as const;
    await update(db, 'one', lost);
    await begin('two', null);
    await update(db, 'two', lost);
    await begin('three', 'x');
    await update(db, 'three', { status: 'completed', outcome: 'out_of_steps', ended_at: at + 1500 });
    const sums = { runs: 2, started: 2, run_ms: 1000, wait_ms: 1000 };
    expect(await list()).toContainEqual(
      expect.objectContaining({ automation_id: 'automation', outcome: 'lost', reason: 'lost', ...sums }),
    );
    expect(await list()).toContainEqual(
      expect.objectContaining({ automation_id: '', outcome: 'out_of_steps', reason: '', run_ms: 1000 }),
    );
    // The lost run turns out to be alive, and completes.
    await update(db, 'one', { status: 'running', error_code: null, ended_at: null });
    await update(db, 'one', { status: 'completed', ended_at: at + 2500 });
    await update(db, 'two', { status: 'completed', error_code: null, ended_at: at + 3500 });
    const now = (await list()).filter(({ automation_id }) => automation_id !== '');
    expect(now).toMatchObject([{ outcome: 'succeeded', runs: 2, run_ms: 5000, wait_ms: 1000 }]);
    await db.deleteFrom('launch').execute();
    expect(await list()).toHaveLength(2);
    await store.deleteBefore(day + 1);
    expect(await list()).toEqual([]);
  });
});
