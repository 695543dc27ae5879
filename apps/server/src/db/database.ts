import { CompiledQuery, Kysely } from 'kysely';

import { isPostgres } from './dialect.ts';
import { migrate } from './migrate.ts';
import { openPostgres } from './postgres.ts';
import { openSqlite } from './sqlite.ts';
import type { Database, Db } from './tables.ts';

export type { Db, Transaction } from './tables.ts';

/** Where the tables are: a file of SQLite, or a database of PostgreSQL. */
export type DatabasePlace = { readonly file: string } | { readonly url: string };

/**
 * Opens a database and brings its tables up to date. Throws when another process has the file, and a `SettingError`
 * when PostgreSQL can't be used.
 */
export async function openDatabase(place: DatabasePlace): Promise<Db> {
  if ('url' in place) return openPostgres(place.url);
  const db = new Kysely<Database>({ dialect: openSqlite(place.file) });
  try {
    await migrate(db);
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
