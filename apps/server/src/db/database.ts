import { SettingError } from '@phalanx/settings';
import Database from 'better-sqlite3';
import { CompiledQuery, Kysely } from 'kysely';
import { Migrator, type Migration } from 'kysely/migration';

import { migrations } from './migrations/index.ts';
import { StrictSqliteDialect } from './sqlite-dialect.ts';

/** Each store names its own tables with `db.withTables<...>()`. */
export type Db = Kysely<object>;

function openSqlite(file: string): Database.Database {
  const sqlite = new Database(file, { timeout: 0 });
  try {
    configure(sqlite);
    return sqlite;
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

function configure(sqlite: Database.Database): void {
  // One server a data folder: the lock is held for the life of the process and falls with it, also by `kill -9`.
  sqlite.pragma('locking_mode = EXCLUSIVE');
  sqlite.pragma('journal_mode = WAL');
  // A reply of success outlives a loss of power.
  sqlite.pragma('synchronous = FULL');
  sqlite.pragma('foreign_keys = ON');
}

const newerRelease = (cause: Error): SettingError =>
  new SettingError(
    'The database was written by a newer release of Phalanx: install that one, or restore the backup of before.',
    { cause },
  );

async function migrate(db: Db): Promise<void> {
  const provider = { getMigrations: async (): Promise<Record<string, Migration>> => migrations };
  const { error } = await new Migrator({ db, provider, allowUnorderedMigrations: true }).migrateToLatest();
  if (error === undefined) return;
  // Kysely's words for a migration that was made and that it does not know.
  if (error instanceof Error && error.message.startsWith('corrupted migrations')) throw newerRelease(error);
  throw new Error('the tables could not be brought up to date', { cause: error });
}

/** Opens the database of a data folder and brings its tables up to date. Throws when another process has it. */
export async function openDatabase(file: string): Promise<Db> {
  const db = new Kysely<object>({ dialect: new StrictSqliteDialect(openSqlite(file)) });
  try {
    await migrate(db);
    return db;
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

/** Writes something that is always the same. Throws when the database can't be written. */
export async function probeDatabase(db: Db): Promise<void> {
  await db.executeQuery(CompiledQuery.raw('PRAGMA user_version = 0'));
}
