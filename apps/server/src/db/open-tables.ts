import path from 'node:path';
import { prepareFolder } from '@phalanx/settings';
import type { Logger } from 'pino';
import type { ServerConfig } from '../config.ts';
import { migrateDatabase, openDatabase, openSharedDatabase, probeDatabase, type Db } from './database.ts';
import { lockForServer } from './sqlite/folder-lock.ts';
import { databaseFileOf } from './read-tables.ts';
import { ServerLock, type Togetherness } from './postgres/server-lock.ts';
import { FaultMonitor, probeOfFolder } from '../faults/fault-monitor.ts';

interface Tables {
  readonly database: Db;
  /** Of a database that others can reach too. */
  readonly lock: ServerLock | undefined;
  /** Whether no other server can have the database. */
  readonly isExclusive: boolean;
  /** Lets go of what keeps other servers away. Call it when the database is closed. */
  release: () => Promise<void>;
}

/** Throws a `SettingError` when they can't be used, or another server has them. */
export async function openTables({ dataDir, databaseUrl, natsUrls }: ServerConfig): Promise<Tables> {
  // Beside SQLite's file, its lock is that of the folder.
  if (databaseUrl === undefined) {
    const database = await openDatabase({ file: databaseFileOf(dataDir) });
    return { database, lock: undefined, isExclusive: true, release: async () => undefined };
  }
  // Bodies under way and cached repositories are there: of two servers each would take away the other's.
  const folder = lockForServer(dataDir);
  try {
    const tables = await openPostgresTables(databaseUrl, natsUrls === undefined ? 'alone' : 'together');
    return { ...tables, release: () => tables.release().finally(() => folder.release()) };
  } catch (error) {
    folder.release();
    throw error;
  }
}

async function openPostgresTables(url: string, togetherness: Togetherness): Promise<Tables> {
  const lock = await ServerLock.of(url, togetherness);
  try {
    const database = await (togetherness === 'alone' ? openDatabase({ url }) : openSharedDatabase(url));
    return { database, lock, isExclusive: togetherness === 'alone', release: () => lock.close() };
  } catch (error) {
    await lock.close();
    throw error;
  }
}

/** Whether the data folder and the database work. */
export async function watchFaults(database: Db, config: ServerConfig, log: Logger): Promise<FaultMonitor> {
  const { dataDir, databaseUrl } = config;
  const faults = new FaultMonitor({ log });
  faults.addProbe(
    'disk',
    await probeOfFolder(dataDir, databaseUrl === undefined ? path.basename(databaseFileOf(dataDir)) : '.'),
  );
  faults.addProbe('database', () => probeDatabase(database));
  return faults;
}

/** Brings the tables of a service up to date. Returns what was done. */
export async function migrateData({ dataDir, databaseUrl }: ServerConfig): Promise<string[]> {
  if (databaseUrl !== undefined) return migrateDatabase({ url: databaseUrl });
  await prepareFolder(dataDir);
  return migrateDatabase({ file: databaseFileOf(dataDir) });
}
