import { SettingError } from '@phalanx/settings';
import Sqlite from 'better-sqlite3';
import { CompiledQuery, type Dialect, Kysely, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import path from 'node:path';

import { isPostgres } from './dialect.ts';
import { lockForServer } from './sqlite/folder-lock.ts';
import { migrations } from './migrations/index.ts';
import { openPostgres, type Prepare } from './postgres/postgres.ts';
import { StrictSqliteDialect } from './sqlite/sqlite-dialect.ts';
import type { Database, Db } from './tables/tables.ts';

const toMigrate =
  'The tables of the database are older than this release: run "phalanx migrate" with the same settings, then start the servers.';

export type { Db, Transaction } from './tables/tables.ts';

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

const newerRelease = (cause?: Error): SettingError =>
  new SettingError(
    'The database was written by a newer release of Phalanx: install that one, or restore the backup of before.',
    cause && { cause },
  );

/** Brings the tables up to date, in one transaction, and returns what was done. Throws a `SettingError` when they are of a newer release. */
async function migrate<Tables>(db: Kysely<Tables>): Promise<string[]> {
  const provider = { getMigrations: async (): Promise<Record<string, Migration>> => migrations };
  const migrator = new Migrator({ db, provider, allowUnorderedMigrations: true });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error === undefined) return results.map(({ migrationName }) => migrationName);
  // Kysely's words for a migration that was made and that it does not know.
  if (error instanceof Error && error.message.startsWith('corrupted migrations')) throw newerRelease(error);
  throw new Error('the tables could not be brought up to date', { cause: error });
}

/**
 * For one of several servers, which leaves the tables to `phalanx migrate`. They may be newer than its release, unless
 * a migration says that each server has to know it. Throws a `SettingError`.
 */
async function requireMigrated<Tables>(db: Kysely<Tables>): Promise<void> {
  const { rows: found } = await sql<{ tables: string | null }>`
    SELECT to_regclass('kysely_migration')::text AS tables`.execute(db);
  if (found[0]?.tables === null) throw new SettingError(toMigrate);
  const { rows: made } = await sql<{ name: string }>`SELECT name FROM kysely_migration`.execute(db);
  const names = new Set(made.map(({ name }) => name));
  if (Object.keys(migrations).some((name) => !names.has(name))) throw new SettingError(toMigrate);
  const { rows } = await sql<{ needs: string }>`SELECT needs FROM installation`.execute(db);
  const needs = rows[0]?.needs ?? '';
  if (needs !== '' && migrations[needs] === undefined) throw newerRelease();
}

/** A backup that opens the file at the same moment reads it in, if it has to be, within that. */
const busyMs = 1000;

/** Throws when the file can't be used, also because another server has its folder. */
export function openSqlite(file: string): Dialect {
  const lock = lockForServer(path.dirname(file));
  try {
    const sqlite = new Sqlite(file, { timeout: busyMs });
    try {
      configure(sqlite);
      return new StrictSqliteDialect(sqlite, lock);
    } catch (error) {
      sqlite.close();
      throw error;
    }
  } catch (error) {
    lock.release();
    throw error;
  }
}

function configure(sqlite: Sqlite.Database): void {
  sqlite.pragma('journal_mode = WAL');
  // A reply of success outlives a loss of power: each commit waits for its own flush (`sqlite-dialect.ts`).
  sqlite.pragma('synchronous = NORMAL');
  sqlite.pragma('foreign_keys = ON');
}
