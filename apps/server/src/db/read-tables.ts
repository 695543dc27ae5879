import { access } from 'node:fs/promises';
import path from 'node:path';
import { SettingError } from '@phalanx/settings';
import Sqlite from 'better-sqlite3';
import { Kysely, sql, SqliteDialect } from 'kysely';

import { errorCodeOf } from '../errors/error-code.ts';
import { migrations } from './migrations/index.ts';
import { readPostgres } from './postgres/postgres.ts';
import type { Database, Db } from './tables/tables.ts';

/** Beside a server that writes, which may have to read in what a killed one left. */
const busyMs = 5000;

interface Place {
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
}

/** Of a database in the data folder. */
export const databaseFileOf = (dataDir: string): string => path.join(dataDir, 'phalanx.db');

/** Throws a `SettingError` when the folder is none of a service. */
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
 * The tables of a service, which may run meanwhile: they are only read, and not even brought up to date. Throws a
 * `SettingError` when they are those of another release.
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
  const sqlite = new Sqlite(file, { fileMustExist: true, timeout: busyMs });
  sqlite.pragma('query_only = ON');
  return new Kysely<Database>({ dialect: new SqliteDialect({ database: sqlite }) });
}

async function requireOwnTables(db: Db): Promise<void> {
  const made = await listMigrations(db);
  const isOwn = made.size === Object.keys(migrations).length && [...made].every((name) => name in migrations);
  if (!isOwn)
    throw new SettingError(
      'The database is empty or of another release of Phalanx: use the commands of that one, or start this one first.',
    );
}

/** Empty when there are no tables. */
async function listMigrations(db: Db): Promise<Set<string>> {
  try {
    const { rows } = await sql<{ name: string }>`SELECT name FROM kysely_migration`.execute(db);
    return new Set(rows.map(({ name }) => name));
  } catch (error) {
    if (!['42P01', 'SQLITE_ERROR'].includes(errorCodeOf(error))) throw error;
    return new Set();
  }
}

/** What was committed up to now, as a new file, whoever writes meanwhile. */
export function copySqlite(file: string, to: string): void {
  const sqlite = new Sqlite(file, { fileMustExist: true, timeout: busyMs });
  try {
    sqlite.prepare('VACUUM INTO ?').run(to);
  } finally {
    sqlite.close();
  }
}

/** What is wrong with the file, in SQLite's words; empty when nothing is. */
export function problemsOfSqlite(file: string): string[] {
  const sqlite = new Sqlite(file, { fileMustExist: true, timeout: busyMs });
  try {
    const damages = sqlite.prepare<[], string>('PRAGMA integrity_check').pluck().all();
    const strays = sqlite.prepare<[], { table: string; parent: string }>('PRAGMA foreign_key_check').all();
    return [
      ...damages.filter((line) => line !== 'ok'),
      ...strays.map(({ table, parent }) => `a row of ${table} names one of ${parent} that is not there`),
    ];
  } catch (error) {
    if (error instanceof Error && /^SQLITE_(CORRUPT|NOTADB)/.test(errorCodeOf(error))) return [error.message];
    throw error;
  } finally {
    sqlite.close();
  }
}
