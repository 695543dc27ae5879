import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';

import type { Db } from '../../db/database.ts';
import { afterThisFile } from '../file-clean-ups.ts';
import { dropDatabase, openTablesOf, type Engine } from './test-database.ts';

/** Empty tables, until the tests of the file have ended. */
export async function openTestDatabase(engine: Engine): Promise<Db> {
  const folder = await mkdtemp(path.join(tmpdir(), 'phalanx-tables-'));
  afterThisFile(() => rm(folder, { recursive: true, force: true }));
  afterThisFile(() => dropDatabase(folder, engine));
  const db = await openTablesOf(folder, engine);
  afterThisFile(() => db.destroy());
  if (engine === 'SQLite') await sql`pragma synchronous = off`.execute(db);
  return db;
}
