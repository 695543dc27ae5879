import { closeSync, existsSync, mkdtempSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Kysely, sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { openSqlite } from '../database.ts';

let folder: string;
let file: string;
let db: Kysely<unknown>;

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'phalanx-sqlite-'));
  file = path.join(folder, 'phalanx.db');
  db = new Kysely({ dialect: openSqlite(file) });
  await sql`CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT)`.execute(db);
});
afterEach(async () => {
  await db.destroy();
  rmSync(folder, { recursive: true });
});

const megabyte = 1024 * 1024;
const count = async (): Promise<number> =>
  (await sql<{ count: number }>`SELECT count(*) AS count FROM note`.execute(db)).rows[0]?.count ?? 0;

const addRows = (rows: number, length = 10): Promise<unknown> =>
  sql`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
      INSERT INTO note (text) SELECT hex(zeroblob(${length})) FROM n`.execute(db);

it('reads while a commit is on its way to the disk', async () => {
  const order: string[] = [];
  await Promise.all([
    addRows(1).then(() => order.push('written')),
    count().then((rows) => order.push(`${rows} read`)),
  ]);
  expect(order).toEqual(['1 read', 'written']);
});

it('has one transaction at a time, in the order in which they begin', async () => {
  const order: number[] = [];
  const transactions = [1, 2, 3].map((number) =>
    db.transaction().execute(async (transaction) => {
      order.push(number);
      await new Promise(setImmediate);
      await sql`INSERT INTO note (text) VALUES (${String(number)})`.execute(transaction);
      order.push(number);
    }),
  );
  await Promise.all(transactions);
  expect(order).toEqual([1, 1, 2, 2, 3, 3]);
});

/** Returns how often the log has restarted: https://sqlite.org/fileformat2.html#walformat */
function beginnings(): number {
  const log = openSync(`${file}-wal`, 'r');
  const head = Buffer.alloc(32);
  readSync(log, head);
  closeSync(log);
  return head.readUInt32BE(12);
}

it('brings what was committed into its file, and the log begins anew under somebody who writes all the time', async () => {
  await sql`PRAGMA synchronous = OFF`.execute(db);
  const before = beginnings();
  let written = 0;
  // Slower than the disk, however slow that is.
  for (; beginnings() === before; written += 1) {
    await addRows(600, 500);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(statSync(file).size).toBeGreaterThan(60 * megabyte);
  expect(await count()).toBe(written * 600);
});

it('leaves no log when it is closed, however much was written a moment ago', async () => {
  await addRows(6000);
  await new Promise((resolve) => setTimeout(resolve, 1200));
  await db.destroy();
  expect(existsSync(`${file}-wal`)).toBe(false);
});
