import path from 'node:path';
import { prepareFolder } from '@phalanx/settings';
import type { Logger } from 'pino';

import type { ServerConfig } from './config.ts';
import { migrateDatabase, openDatabase, openSharedDatabase, probeDatabase, type Db } from './db/database.ts';
import { databaseFileOf } from './db/read-tables.ts';
import { ServerLock } from './db/server-lock.ts';
import { FaultMonitor } from './faults/fault-monitor.ts';
import { probeOfFolder } from './faults/probe-folder.ts';

interface Tables {
  readonly database: Db;
  /** Of a database that others can reach too. */
  readonly lock: ServerLock | undefined;
}

/** Throws a `SettingError` when they can't be used, or another server has them. */
export async function openTables({ dataDir, databaseUrl, natsUrls }: ServerConfig): Promise<Tables> {
  if (databaseUrl === undefined)
    return { database: await openDatabase({ file: databaseFileOf(dataDir) }), lock: undefined };
  const lock = await ServerLock.of(databaseUrl, natsUrls === undefined ? 'alone' : 'together');
  try {
    const isAlone = natsUrls === undefined;
    return {
      database: await (isAlone ? openDatabase({ url: databaseUrl }) : openSharedDatabase(databaseUrl)),
      lock,
    };
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
