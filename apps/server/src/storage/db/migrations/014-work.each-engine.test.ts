import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';

import { engines, openTestDatabase } from '../../../testing/engines/test-database.ts';
import { addRun } from '../../../testing/fleet-rows.ts';
import { createAccessStore } from '../../../http/access/store.ts';
import { createKeptChunkStore } from '../../../runs/logs/kept/kept-chunk-store.ts';
import type { Db } from '../database.ts';
import { createTrigger, dropTrigger } from './001-schema/column-types.ts';
import { work } from './014-work.ts';

const weekMs = 7 * 24 * 60 * 60 * 1000;

const execute = async (db: Db, ...statements: string[]): Promise<void> => {
  for (const statement of statements) await sql.raw(statement).execute(db);
};

/** Restores the tables of the previous release. */
async function goBack(db: Db): Promise<void> {
  await execute(
    db,
    'drop table work',
    `update installation set needs = ''`,
    'drop index replay_unended',
    'alter table replay add column claimed_until bigint not null default 0',
    'create index replay_due on replay (claimed_until) where ended_at is null',
    `create table group_solving (group_id text, commit_hash text, project_id text, user_id text, noted_at bigint)`,
    'create table capture_deletion (record_id text primary key)',
    'create table kept_chunk_deletion (run_id text primary key)',
    'create table large_pack_removal (large_key text primary key, removed_at bigint not null)',
  );
  const triggers = [
    { name: 'run_files_end', table: 'run_file', statement: 'delete from capture_deletion' },
    { name: 'film_parts_end', table: 'film_part', statement: 'delete from capture_deletion' },
    { name: 'run_kept_chunks_end', table: 'run', statement: 'delete from kept_chunk_deletion' },
  ];
  for (const { name, table, statement } of triggers) {
    await dropTrigger(db, name, table);
    await createTrigger(db, { name, on: `after delete on ${table}`, statement });
  }
}

describe.each(engines)('work that the release before has left, in %s,', (engine) => {
  it('are enqueued, and so is what triggers note from then on', async () => {
    const db = await openTestDatabase(engine);
    await goBack(db);
    await createAccessStore(db).insertUser({ id: 'u', name: 'u', role: 'user', created_at: 0 });
    await execute(
      db,
      `insert into capture_deletion values ('record'), ('run')`,
      `insert into kept_chunk_deletion values ('run')`,
      `insert into large_pack_removal values ('project/pack', 1000)`,
      `insert into group_solving values ('group', 'abc', 'p', 'u', 9)`,
      `insert into project (id, owner_id, name, name_key, created_at) values ('p', 'u', 'p', 'p', 0)`,
      ...['waits', 'ended'].map(
        (
          id,
        ) => `insert into replay (id, project_id, owner_id, tree_id, screen_set, cause, status, problem, made_by,
          counts, created_at, ended_at, claimed_until)
          values ('${id}', 'p', 'u', '', 'all', 'save', 'waiting', '', 'u', '{}', 7, ${id === 'ended' ? 8 : 'null'}, 5)`,
      ),
    );
    await work.up(db);
    const list = () => db.selectFrom('work').select(['kind', 'key', 'due_at']).orderBy('kind').orderBy('key');
    const before = [
      { kind: 'delete captures', key: 'record', due_at: 0 },
      { kind: 'delete captures', key: 'run', due_at: 0 },
      { kind: 'delete kept logs', key: 'run', due_at: 0 },
      { kind: 'delete large packs', key: 'project/pack', due_at: 1000 + weekMs },
      { kind: 'mark solved groups', key: 'group abc', due_at: 9 },
      { kind: 'replay screens', key: 'waits', due_at: 7 },
    ];
    expect(await list().execute()).toEqual(before);
    const [solving] = await db.selectFrom('work').select('payload').where('key', '=', 'group abc').execute();
    const noted = { group_id: 'group', commit_hash: 'abc', user_id: 'u' };
    expect(JSON.parse(solving?.payload ?? '')).toEqual(noted);

    for (const id of ['silent', 'talks']) await addRun(db, id);
    const chunk = { first: 1, count: 1, last_id: '1', packed: Buffer.from('x') };
    await createKeptChunkStore(db, 'log').add(new Map([['talks', chunk]]));
    await execute(
      db,
      `insert into film_part (run_id, number, part_id, user_id, taken_at, width, height, size_bytes)
        values ('silent', 1, 'a', 'u', 0, 1, 1, 1), ('silent', 2, 'b', 'u', 0, 1, 1, 1)`,
      `update work set claimed_until = 5, attempts = 3 where key = 'run'`,
      'delete from launch',
    );
    const added = [
      { kind: 'delete captures', key: 'silent', due_at: 0 },
      { kind: 'delete kept logs', key: 'talks', due_at: 0 },
    ];
    const byKey = (rows: readonly { kind: string; key: string }[]) =>
      rows.map(({ kind, key }) => `${kind} ${key}`).toSorted();
    expect(byKey(await list().execute())).toEqual(byKey([...before, ...added]));
    expect(await sql`select needs from installation`.execute(db)).toMatchObject({
      rows: [{ needs: '014-work' }],
    });
  });
});
