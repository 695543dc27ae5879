import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll } from 'vitest';

import type { Db } from '../db/database.ts';
import { dropDatabase, openTablesOf, type Engine } from './test-database.ts';

const cleanUps: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

/** Empty tables, until the tests of the file have ended. */
export async function openTestDatabase(engine: Engine): Promise<Db> {
  const folder = await mkdtemp(path.join(tmpdir(), 'phalanx-tables-'));
  cleanUps.push(() => rm(folder, { recursive: true, force: true }));
  cleanUps.push(() => dropDatabase(folder, engine));
  const db = await openTablesOf(folder, engine);
  cleanUps.push(() => db.destroy());
  if (engine === 'SQLite') await sql`pragma synchronous = off`.execute(db);
  return db;
}
