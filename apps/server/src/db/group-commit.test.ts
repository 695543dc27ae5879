import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { openDatabase, type Db } from './database.ts';
import { GroupCommit } from './group-commit.ts';

let folder: string;
let db: Db;
let commits: GroupCommit;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'phalanx-group-commit-'));
  db = await openDatabase(path.join(folder, 'phalanx.db'));
  await sql`CREATE TABLE number (value INTEGER PRIMARY KEY)`.execute(db);
  commits = new GroupCommit(db);
});
afterEach(async () => {
  await db.destroy();
  await rm(folder, { recursive: true, force: true });
});

const insert = (value: number): Promise<number> =>
  commits.write(async (transaction) => {
    await sql`INSERT INTO number VALUES (${value})`.execute(transaction);
    return value;
  });

async function stored(): Promise<number[]> {
  const { rows } = await sql<{ value: number }>`SELECT value FROM number ORDER BY value`.execute(db);
  return rows.map((row) => row.value);
}

test('writes of one turn and of later ones are all stored, each with its result', async () => {
  const first = [insert(1), insert(2)];
  await new Promise(setImmediate);
  expect(await Promise.all([...first, insert(3)])).toEqual([1, 2, 3]);
  expect(await stored()).toEqual([1, 2, 3]);
});

test('a write that fails costs only itself', async () => {
  const outcomes = await Promise.allSettled([insert(1), insert(2), insert(1), insert(3)]);
  expect(outcomes.map((outcome) => outcome.status)).toEqual([
    'fulfilled',
    'fulfilled',
    'rejected',
    'fulfilled',
  ]);
  expect(await stored()).toEqual([1, 2, 3]);
});
