import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { engines, openTestDatabase } from '../../../testing/engines/test-database.ts';
import { notDue } from '../work-queue.ts';
import { dropTrigger } from './001-schema/column-types.ts';
import { groupWork } from './016-group-work.ts';

describe.each(engines)('records without a group and unfinished marks in %s', (engine) => {
  it('are enqueued, as long as their records and groups are there', async () => {
    const db = await openTestDatabase(engine);
    const execute = async (...statements: string[]): Promise<void> => {
      for (const statement of statements) await sql.raw(statement).execute(db);
    };
    // Restore the tables of the previous release.
    await dropTrigger(db, 'record_grouping_end', 'record');
    await dropTrigger(db, 'group_move_marking_end', 'group_move');
    await execute(
      'alter table group_move add column is_unfinished bigint not null default 0',
      'create index group_move_unfinished on group_move (made_at) where is_unfinished = 1',
      `insert into record_group (id, owner_id, automation_id, automation_name, package_name, title, next_stage,
        screen_state, status, records, phones, first_seen, last_seen)
        values ('g', 'u', 'a', '', '', '', '', '', 'open', 0, 0, 0, 0)`,
      ...['finished', 'half-done'].map(
        (id) => `insert into group_move (id, kind, group_id, made_by, made_at, mark, before, is_unfinished)
          values ('${id}', 'mark', 'g', 'u', 0, 'solved', '{}', ${id === 'finished' ? 0 : 1})`,
      ),
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
      return rows.map(({ key, lane, due_at, payload }) => ({
        key,
        lane,
        due_at,
        facts: JSON.parse(payload ?? 'null'),
      }));
    };
    expect(await list()).toEqual([
      { key: 'half-done', lane: 'u', due_at: 0, facts: null },
      { key: 'ready', lane: '', due_at: 7, facts: { screen_id: 's', commit_hash: 'abc' } },
      { key: 'waits', lane: '', due_at: notDue, facts: { screen_id: 's', commit_hash: null } },
    ]);
    await execute(`delete from record where id = 'waits'`, `delete from record_group where id = 'g'`);
    expect(await list()).toMatchObject([{ key: 'ready' }]);
  });
});
