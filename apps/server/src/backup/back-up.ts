import { access, link, mkdir, open, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { dataDir as dataDirSetting, explainFolder, SettingError } from '@phalanx/settings';

import { lockForBackup } from '../db/folder-lock.ts';
import { copySqlite, databaseFileOf, openToRead, requireDatabase } from '../db/read-tables.ts';
import { errorCodeOf } from '../error-code.ts';
import type { S3Config } from '../s3/s3-settings.ts';
import { syncFolder } from '../sync-folder.ts';
import { type Manifest, writeManifest } from './manifest.ts';
import { Staging } from './stage-files.ts';
import { createBackupStore } from './store.ts';
import { listStoredFiles, ownFiles } from './stored-files.ts';
import { packFolder } from './tar.ts';

export interface DataPlace {
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  /** Where captures and large packs are, when they are not in the data folder. */
  readonly s3: S3Config | undefined;
}

interface BackupResult extends Manifest {
  /** Files that rows name and that are lost. */
  readonly missing: readonly string[];
}

/** What was deleted while one round went on, the next does not want any more. */
const mostRounds = 5;

/**
 * Writes the data folder to a new file, also while a server works in it. The copy of the database comes first, then the
 * files that its rows name, which are written before their rows; where one is gone already, so is its row, and
 * the database is copied again.
 */
export async function backUp(place: DataPlace, archive: string): Promise<BackupResult> {
  await refuseFile(archive);
  try {
    return await backUpLocked(place, archive);
  } catch (error) {
    throw explain(error, place.dataDir);
  }
}

async function backUpLocked(place: DataPlace, archive: string): Promise<BackupResult> {
  if (place.databaseUrl === undefined) await requireDatabase(place.dataDir);
  else await access(place.dataDir);
  const lock = takeLock(place.dataDir);
  const folder = path.join(place.dataDir, 'backup');
  try {
    // What a killed one left.
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { mode: 0o700 });
    const missing = await gather(place, folder);
    const manifest = await writeManifest(folder, {
      created_at: new Date().toISOString(),
      database: place.databaseUrl === undefined ? 'sqlite' : 'postgresql',
    });
    await writeArchive(folder, archive);
    return { ...manifest, missing };
  } finally {
    await rm(folder, { recursive: true, force: true });
    lock.release();
  }
}

function takeLock(dataDir: string): { release(): void } {
  try {
    return lockForBackup(dataDir);
  } catch (error) {
    if (errorCodeOf(error) !== 'SQLITE_BUSY') throw error;
    throw new SettingError('Another backup of this data folder is under way.', { cause: error });
  }
}

/** Returns what is missing. */
async function gather({ dataDir, databaseUrl, s3 }: DataPlace, folder: string): Promise<string[]> {
  const staging = new Staging(dataDir, folder);
  const isEmbedded = databaseUrl === undefined;
  for (let round = 1; ; round += 1) {
    if (isEmbedded) await copyDatabase(dataDir, folder);
    const db = await openToRead({ dataDir: isEmbedded ? folder : dataDir, databaseUrl });
    try {
      const elsewhere = { hasLogs: !isEmbedded, hasObjects: s3 !== undefined };
      const missing = await staging.take(listStoredFiles(createBackupStore(db), elsewhere));
      missing.push(...(await staging.take(ownFiles)));
      if (missing.length === 0 || round === mostRounds) return missing;
    } finally {
      await db.destroy();
    }
  }
}

async function copyDatabase(dataDir: string, folder: string): Promise<void> {
  const copy = databaseFileOf(folder);
  await rm(copy, { force: true });
  copySqlite(databaseFileOf(dataDir), copy);
}

/** Whole, or not there. */
async function writeArchive(folder: string, archive: string): Promise<void> {
  const partial = `${archive}.partial`;
  await rm(partial, { force: true });
  try {
    const output = await open(partial, 'wx', 0o600);
    try {
      await packFolder(folder, await readdir(folder), output);
      await output.sync();
    } finally {
      await output.close();
    }
    await link(partial, archive);
    await syncFolder(path.dirname(archive));
  } finally {
    await rm(partial, { force: true });
  }
}

async function refuseFile(archive: string): Promise<void> {
  const isThere = await access(archive).then(
    () => true,
    () => false,
  );
  if (isThere) throw new SettingError(`${archive} is there already: give a name that is new.`);
}

function explain(error: unknown, folder: string): unknown {
  if (error instanceof Error && 'path' in error && !String(error.path).startsWith(folder)) return error;
  return explainFolder(error, { setting: dataDirSetting.name, folder });
}
