import { CompiledQuery, Kysely } from 'kysely';

import { isPostgres } from './dialect.ts';
import { migrate, requireMigrated } from './migrate.ts';
import { openPostgres, type Prepare } from './postgres.ts';
import { openSqlite } from './sqlite.ts';
import type { Database, Db } from './tables.ts';

export type { Db, Transaction } from './tables.ts';

/** Where the tables are: a file of SQLite, or a database of PostgreSQL. */
export type DatabasePlace = { readonly file: string } | { readonly url: string };

/**
 * Opens a database and brings its tables up to date. Throws when another process has the file, and a `SettingError`
 * when PostgreSQL can't be used.
 */
export const openDatabase = (place: DatabasePlace): Promise<Db> => openTables(place, migrate);

/** The same for one of several servers, which leaves the tables as they are. Throws a `SettingError` when they don't fit it. */
export const openSharedDatabase = (url: string): Promise<Db> => openPostgres(url, requireMigrated);

/** Brings the tables up to date. Returns what was done. */
export async function migrateDatabase(place: DatabasePlace): Promise<string[]> {
  const made: string[] = [];
  const db = await openTables(place, async (one) => void made.push(...(await migrate(one))));
  await db.destroy();
  return made;
}

async function openTables(place: DatabasePlace, prepare: Prepare): Promise<Db> {
  if ('url' in place) return openPostgres(place.url, prepare);
  const db = new Kysely<Database>({ dialect: openSqlite(place.file) });
  try {
    await prepare(db);
    return db;
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

/** Writes something that is always the same, or as good as that. Throws when the database can't be written. */
export async function probeDatabase(db: Db): Promise<void> {
  const writing = isPostgres(db) ? 'SELECT pg_current_xact_id()' : 'PRAGMA user_version = 0';
  await db.executeQuery(CompiledQuery.raw(writing));
}
