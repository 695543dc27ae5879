import path from 'node:path';
import { SettingError } from '@phalanx/settings';
import Database from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { Migrator, type Migration } from 'kysely/migration';

import { errorCodeOf } from '../error-code.ts';
import { migrations } from './migrations/index.ts';

/** Each store names its own tables with `db.withTables<...>()`. */
export type Db = Kysely<object>;

function openSqlite(file: string): Database.Database {
  const sqlite = new Database(file, { timeout: 0 });
  try {
    configure(sqlite);
    return sqlite;
  } catch (error) {
    sqlite.close();
    if (errorCodeOf(error) !== 'SQLITE_BUSY') throw error;
    throw new SettingError(
      `The data folder ${path.dirname(path.resolve(file))} is in use by another server: stop that one, or set PHALANX_DATA_DIR to another folder`,
      { cause: error },
    );
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

async function migrate(db: Db): Promise<void> {
  const provider = { getMigrations: async (): Promise<Record<string, Migration>> => migrations };
  const { error } = await new Migrator({ db, provider }).migrateToLatest();
  if (error !== undefined) throw new Error('the tables could not be brought up to date', { cause: error });
}

/** Opens the database of a data folder and brings its tables up to date. Throws when another process has it. */
export async function openDatabase(file: string): Promise<Db> {
  const db = new Kysely<object>({ dialect: new SqliteDialect({ database: openSqlite(file) }) });
  await migrate(db);
  return db;
}
