import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createAccessStore } from '../../../http/access/store.ts';
import { engines, openTestDatabase } from '../../../testing/engines/test-database.ts';
import { dropTrigger } from './001-schema/column-types.ts';
import { scheduleWork } from './017-schedule-work.ts';

describe.each(engines)('the turns of schedules in %s', (engine) => {
  it('are enqueued, as long as their schedules and users are there', async () => {
    const db = await openTestDatabase(engine);
    const execute = async (...statements: string[]): Promise<void> => {
      for (const statement of statements) await sql.raw(statement).execute(db);
    };
    // Restore the table of the previous release.
    await dropTrigger(db, 'schedule_turns_end', 'schedule');
    await execute(
      'alter table schedule add column planned_at bigint',
      'alter table schedule add column due_at bigint',
      'create index schedule_due on schedule (due_at) where paused = 0 and due_at is not null',
      'create index schedule_queued on schedule (id) where queued_at is not null',
    );
    const access = createAccessStore(db);
    for (const id of ['u', 'v']) await access.insertUser({ id, name: id, role: 'user', created_at: 0 });
    const schedules = [
      { id: 'over', user: 'u', paused: 0, planned: 'null', due: 'null', queued: 'null' },
      { id: 'paused', user: 'u', paused: 1, planned: 60, due: 61, queued: 50 },
      { id: 'plain', user: 'u', paused: 0, planned: 60, due: 61, queued: 'null' },
      { id: 'queued', user: 'u', paused: 0, planned: 60, due: 61, queued: 50 },
      { id: 'queued-last', user: 'v', paused: 0, planned: 'null', due: 'null', queued: 50 },
    ];
    for (const { id, user, paused, planned, due, queued } of schedules)
      await execute(`insert into schedule (id, user_id, project_id, name, cron, time_zone, jitter_seconds, work,
        overlap, missed, paused, planned_at, due_at, queued_at, created_at)
        values ('${id}', '${user}', 'p', '', '', '', 1, '{}', 'queue', 'none', ${paused}, ${planned}, ${due}, ${queued}, 0)`);
    await scheduleWork.up(db);
    const list = async () => {
      const rows = await db.selectFrom('work').selectAll().orderBy('key').execute();
      return rows.map(({ key, lane, due_at, payload }) => ({
        key,
        lane,
        due_at,
        next: JSON.parse(payload ?? ''),
      }));
    };
    const next = { planned_at: 60, due_at: 61 };
    expect(await list()).toEqual([
      { key: 'plain', lane: 'u', due_at: 61, next },
      { key: 'queued', lane: 'u', due_at: 0, next },
      { key: 'queued-last', lane: 'v', due_at: 0, next: null },
    ]);
    await execute(`delete from schedule where id = 'plain'`, `delete from "user" where id = 'v'`);
    expect((await list()).map(({ key }) => key)).toEqual(['queued']);
  });
});
