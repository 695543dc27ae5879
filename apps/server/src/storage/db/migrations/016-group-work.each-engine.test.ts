import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { engines, openTestDatabase } from '../../../testing/engines/test-database.ts';
import { notDue } from '../work-queue.ts';
import { dropTrigger } from './001-schema/column-types.ts';
import { groupWork } from './016-group-work.ts';

describe.each(engines)('records without a group in %s', (engine) => {
  it('are enqueued, as long as they are there', async () => {
    const db = await openTestDatabase(engine);
    const execute = async (...statements: string[]): Promise<void> => {
      for (const statement of statements) await sql.raw(statement).execute(db);
    };
    // Makes the tables what they were in the release before.
    await dropTrigger(db, 'record_grouping_end', 'record');
    await execute(
      `create table record_grouping (record_id text primary key references record (id) on delete cascade,
        screen_id text, is_ready bigint, commit_hash text, claimed_until bigint not null default 0)`,
      ...['ready', 'waits'].map(
        (id) => `insert into record (id, owner_id, automation_id, run_id, user_id, device_id, device_info,
          automation_name, type, status, tag, retention_group, saved, has_gap, missing_captures, capture_bytes, added_at)
          values ('${id}', 'u', 'a', 'r', 'u', 'd', '{}', 'shop', 'crash', 'pending', '', '', 0, 0, 0, 0, 7)`,
      ),
      `insert into record_grouping values ('ready', 's', 1, 'abc', 99), ('waits', 's', 0, null, 0)`,
    );
    await groupWork.up(db);
    const list = async () => {
      const rows = await db.selectFrom('work').selectAll().orderBy('key').execute();
      return rows.map(({ key, due_at, payload }) => ({ key, due_at, facts: JSON.parse(payload ?? '') }));
    };
    expect(await list()).toEqual([
      { key: 'ready', due_at: 7, facts: { screen_id: 's', commit_hash: 'abc' } },
      { key: 'waits', due_at: notDue, facts: { screen_id: 's', commit_hash: null } },
    ]);
    await execute(`delete from record where id = 'waits'`);
    expect(await list()).toMatchObject([{ key: 'ready' }]);
  });
});
