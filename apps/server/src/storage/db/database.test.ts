import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, expect, it } from 'vitest';

import { openDatabase } from './database.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'phalanx-database-'));
afterEach(() => rmSync(folder, { recursive: true }));

it('that cannot be migrated is left as it was', async () => {
  const file = path.join(folder, 'phalanx.db');
  const before = new Database(file);
  before.exec('CREATE TABLE run (in_the_way)');
  before.close();
  await expect(openDatabase({ file })).rejects.toThrow('could not be migrated');
  const after = new Database(file);
  const tables = after
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'kysely%'")
    .pluck()
    .all();
  after.close();
  expect(tables).toEqual(['run']);
});
