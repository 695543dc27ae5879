import { access } from 'node:fs/promises';
import { SettingError } from '@phalanx/settings';
import Sqlite from 'better-sqlite3';
import { Kysely, sql, SqliteDialect } from 'kysely';
import { migrations } from './migrations/index.ts';
import { readPostgres } from './postgres/postgres.ts';
import type { Database, Db } from './tables/tables.ts';
import { errorCodeOf } from '../../kernel/errors/api-error.ts';
import { readBusyMs, databaseFileOf } from './database.ts';

interface Place {
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
}

/** Throws a `SettingError` unless the folder is the data folder of a service. */
export async function requireDatabase(dataDir: string): Promise<void> {
  try {
    await access(databaseFileOf(dataDir));
  } catch (error) {
    if (errorCodeOf(error) !== 'ENOENT') throw error;
    throw new SettingError(
      `The folder ${dataDir} has no database of Phalanx: set PHALANX_DATA_DIR to the data folder of the service.`,
      { cause: error },
    );
  }
}

/**
 * Opens the tables of a service, which may be running, for reading only and without migrations. Throws a `SettingError`
 * when they belong to another release.
 */
export async function openToRead({ dataDir, databaseUrl }: Place): Promise<Db> {
  const db =
    databaseUrl === undefined ? readSqlite(databaseFileOf(dataDir)) : await readPostgres(databaseUrl);
  try {
    await requireOwnTables(db);
    return db;
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

function readSqlite(file: string): Db {
  const sqlite = new Sqlite(file, { fileMustExist: true, timeout: readBusyMs });
  sqlite.pragma('query_only = ON');
  return new Kysely<Database>({ dialect: new SqliteDialect({ database: sqlite }) });
}

async function requireOwnTables(db: Db): Promise<void> {
  const made = await listMigrations(db);
  const isOwn = made.size === Object.keys(migrations).length && [...made].every((name) => name in migrations);
  if (!isOwn)
    throw new SettingError(
      'The database is empty or belongs to another release of Phalanx: use the commands of that release, or start this one first.',
    );
}

/** Lists the executed migrations; empty when there are no tables. */
async function listMigrations(db: Db): Promise<Set<string>> {
  try {
    const { rows } = await sql<{ name: string }>`SELECT name FROM kysely_migration`.execute(db);
    return new Set(rows.map(({ name }) => name));
  } catch (error) {
    if (!['42P01', 'SQLITE_ERROR'].includes(errorCodeOf(error))) throw error;
    return new Set();
  }
}
