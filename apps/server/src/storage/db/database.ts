import path from 'node:path';
import { prepareFolder } from '@phalanx/settings';
import Sqlite from 'better-sqlite3';
import { CompiledQuery, type Dialect, Kysely } from 'kysely';
import type { Logger } from 'pino';
import { isPostgres } from './dialect.ts';
import { ServerLock, type ClusterMode } from './server-lock.ts';
import { lockForServer } from './folder-lock.ts';
import { openPostgres, type Prepare } from './postgres/postgres.ts';
import { StrictSqliteDialect } from './sqlite/sqlite-dialect.ts';
import type { Database, Db } from './tables/tables.ts';
import { FaultMonitor, probeOfFolder } from '../../kernel/faults/fault-monitor.ts';
import { errorCodeOf } from '../../kernel/errors/api-error.ts';
import { migrate, requireMigrated } from './migrate.ts';

export type { Db, Transaction } from './tables/tables.ts';

/** Location of the tables: an SQLite file or a PostgreSQL database. */
export type DatabasePlace = { readonly file: string } | { readonly url: string };

/** Settings for the location of a service's data. */
interface DataSettings {
  readonly dataDir: string;
  /** URL of PostgreSQL; undefined for the SQLite file in the data folder. */
  readonly databaseUrl: string | undefined;
}

interface TableSettings extends DataSettings {
  /** URLs of NATS; undefined when a single server uses the tables. */
  readonly natsUrls: readonly URL[] | undefined;
}

/**
 * Opens a database and migrates its tables. Throws when another process holds the file, and a `SettingError` when
 * PostgreSQL can't be used.
 */
export const openDatabase = (place: DatabasePlace): Promise<Db> => openPlace(place, migrate);

/**
 * Opens the database for one of several servers, without migrating it. Throws a `SettingError` if the tables do not
 * match the release.
 */
const openSharedDatabase = (url: string): Promise<Db> => openPostgres(url, requireMigrated);

/** Migrates the tables. Returns the names of the executed migrations. */
export async function migrateDatabase(place: DatabasePlace): Promise<string[]> {
  const made: string[] = [];
  const db = await openPlace(place, async (one) => void made.push(...(await migrate(one))));
  await db.destroy();
  return made;
}

async function openPlace(place: DatabasePlace, prepare: Prepare): Promise<Db> {
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

/** Writes a constant to check that the database is writable. Throws if it is not. */
async function probeDatabase(db: Db): Promise<void> {
  const writing = isPostgres(db) ? 'SELECT pg_current_xact_id()' : 'PRAGMA user_version = 0';
  await db.executeQuery(CompiledQuery.raw(writing));
}

/** Busy timeout in ms: a backup that opens the file at the same moment may have to recover its log first. */
const busyMs = 1000;

/** Opens an SQLite file. Throws if it can't be used, for example because another server has locked its folder. */
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
  // Each commit waits for its own flush (`sqlite/commit-flush.ts`), so a reported success survives a power loss.
  sqlite.pragma('synchronous = NORMAL');
  sqlite.pragma('foreign_keys = ON');
}

interface ServiceTables {
  readonly database: Db;
  /** Lock of a database that other servers can reach. */
  readonly lock: ServerLock | undefined;
  /** Whether this server has exclusive use of the database. */
  readonly isExclusive: boolean;
  /** Releases the locks against other servers. Call it after the database is closed. */
  release: () => Promise<void>;
}

/**
 * Opens the tables. Throws a `SettingError` when PostgreSQL can't be used or another server uses it, and `SQLITE_BUSY`
 * when another server has locked the data folder.
 */
export async function openTables({ dataDir, databaseUrl, natsUrls }: TableSettings): Promise<ServiceTables> {
  // An SQLite file needs no further lock, because opening it locks the folder.
  if (databaseUrl === undefined) {
    const database = await openDatabase({ file: databaseFileOf(dataDir) });
    return { database, lock: undefined, isExclusive: true, release: async () => undefined };
  }
  // The folder contains incomplete bodies and cached repositories, which two servers would delete from each other.
  const folder = lockForServer(dataDir);
  try {
    const tables = await openPostgresTables(databaseUrl, natsUrls === undefined ? 'single' : 'cluster');
    return { ...tables, release: () => tables.release().finally(() => folder.release()) };
  } catch (error) {
    folder.release();
    throw error;
  }
}

async function openPostgresTables(url: string, mode: ClusterMode): Promise<ServiceTables> {
  const lock = await ServerLock.of(url, mode);
  try {
    const database = await (mode === 'single' ? openDatabase({ url }) : openSharedDatabase(url));
    return { database, lock, isExclusive: mode === 'single', release: () => lock.close() };
  } catch (error) {
    await lock.close();
    throw error;
  }
}

/** Creates the monitor that probes the data folder and the database. */
export async function watchFaults(
  database: Db,
  { dataDir, databaseUrl }: DataSettings,
  log: Logger,
): Promise<FaultMonitor> {
  const faults = new FaultMonitor({ log });
  faults.addProbe(
    'disk',
    await probeOfFolder(dataDir, databaseUrl === undefined ? path.basename(databaseFileOf(dataDir)) : '.'),
  );
  faults.addProbe('database', () => probeDatabase(database));
  return faults;
}

/** Migrates the tables of a service. Returns the names of the executed migrations. */
export async function migrateData({ dataDir, databaseUrl }: DataSettings): Promise<string[]> {
  if (databaseUrl !== undefined) return migrateDatabase({ url: databaseUrl });
  await prepareFolder(dataDir);
  return migrateDatabase({ file: databaseFileOf(dataDir) });
}

/**
 * Busy timeout in ms for readers beside a writing server, which may have to recover the log of a killed server first.
 */
export const readBusyMs = 5000;

/** Path of the database in the data folder. */
export const databaseFileOf = (dataDir: string): string => path.join(dataDir, 'phalanx.db');

/** Lists the problems of the file: corruption, in SQLite's words, and dangling foreign keys. */
export function problemsOfSqlite(file: string): string[] {
  const sqlite = new Sqlite(file, { fileMustExist: true, timeout: readBusyMs });
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
