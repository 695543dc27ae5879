import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { Kysely, sql, SqliteDialect } from 'kysely';
import { Migrator } from 'kysely/migration';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { openDatabase } from '../database.ts';
import { migrations } from './index.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'phalanx-names-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('names that were given twice get a number, the oldest stays as it is, and everything else with it', async () => {
  const file = path.join(folder, 'phalanx.db');
  const before = new Kysely<object>({ dialect: new SqliteDialect({ database: new Database(file) }) });
  const provider = { getMigrations: async () => migrations };
  await new Migrator({ db: before, provider }).migrateTo('005-records');
  for (const [id, name] of ['ada', 'Ada', 'ADA 2', ' ', 'bob'].entries())
    await sql`INSERT INTO user VALUES (${String(id)}, ${name}, 'user', 1)`.execute(before);
  for (const [id, owner, name] of [
    ['p1', '0', 'Shop'],
    ['p2', '0', 'shop'],
    ['p3', '4', 'SHOP'],
  ])
    await sql`INSERT INTO project VALUES (${id}, ${owner}, ${name}, 1)`.execute(before);
  await before.destroy();

  const db = await openDatabase({ file });
  const namesOf = async (table: string) =>
    (await sql<{ name: string }>`SELECT name FROM ${sql.table(table)} ORDER BY id`.execute(db)).rows.map(
      ({ name }) => name,
    );
  expect(await namesOf('user')).toEqual(['ada', 'Ada 2', 'ADA 2 2', 'unnamed', 'bob']);
  expect(await namesOf('project')).toEqual(['Shop', 'shop 2', 'SHOP']);
  await db.destroy();
});
