import { access, link, mkdir, open, readdir, rm, constants, copyFile } from 'node:fs/promises';
import path from 'node:path';
import { dataDir as dataDirSetting, explainFolder, SettingError } from '@phalanx/settings';
import type { S3Config } from '../../storage/blobs/s3/s3-settings.ts';
import { lockForBackup } from '../../storage/db/folder-lock.ts';
import { databaseFileOf } from '../../storage/db/database.ts';
import { copySqlite } from '../../storage/db/copy-sqlite.ts';
import { openToRead, requireDatabase } from '../../storage/db/open-to-read.ts';
import { errorCodeOf } from '../../kernel/errors/api-error.ts';
import { syncFolder } from '../../storage/blobs/synced-files.ts';
import { type Manifest, writeManifest, packFolder } from './archive.ts';
import { createBackupStore, type BackupStore } from './store.ts';
import { capturePath, capturesName } from '../../runs/captures/captures.ts';
import { blobOfPart } from '../../runs/film/film-notes.ts';
import { largePackPaths, largePacksName } from '../../code/projects/packs/large-packs.ts';

/** Error codes of file systems that can't link. */
const cannotLink = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK']);

/** Gathers files of the data folder in a folder of its own, where nobody deletes them. */
class Staging {
  readonly #dataDir: string;
  readonly #folder: string;
  readonly #staged = new Set<string>();

  constructor(dataDir: string, folder: string) {
    this.#dataDir = dataDir;
    this.#folder = folder;
  }

  /** Returns the paths of needed files that are not there. Call it again with what rows name now. */
  async take(files: AsyncIterable<StoredFile> | Iterable<StoredFile>): Promise<string[]> {
    const missing: string[] = [];
    for await (const file of files) {
      if (this.#staged.has(file.path)) continue;
      if (await this.#takeOne(file)) this.#staged.add(file.path);
      else if (file.isNeeded) missing.push(file.path);
    }
    return missing;
  }

  /** False when it is not there. */
  async #takeOne({ path: name, isFinal }: StoredFile): Promise<boolean> {
    const from = path.join(this.#dataDir, name);
    const to = path.join(this.#folder, name);
    await mkdir(path.dirname(to), { recursive: true, mode: 0o700 });
    try {
      await (isFinal ? linkOrCopy(from, to) : copyFile(from, to, constants.COPYFILE_FICLONE));
      return true;
    } catch (error) {
      if (errorCodeOf(error) === 'ENOENT') return false;
      throw error;
    }
  }
}

export interface DataPlace {
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  /** Bucket of captures and large packs; undefined: they are in the data folder. */
  readonly s3: S3Config | undefined;
}

interface BackupResult extends Manifest {
  /** Files that rows name and that are lost. */
  readonly missing: readonly string[];
}

/** Maximum number of rounds. A round no longer wants files that were deleted during the round before. */
const maxRounds = 5;

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
    // A killed backup may have left its folder.
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
      const missing = s3 === undefined ? await staging.take(listObjects(createBackupStore(db))) : [];
      missing.push(...(await staging.take(ownFiles)));
      if (missing.length === 0 || round === maxRounds) return missing;
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

/** Writes the whole archive, or nothing. */
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
  if (isThere) throw new SettingError(`${archive} already exists: choose another name.`);
}

function explain(error: unknown, folder: string): unknown {
  if (error instanceof Error && 'path' in error && !String(error.path).startsWith(folder)) return error;
  return explainFolder(error, { setting: dataDirSetting.name, folder });
}

async function linkOrCopy(from: string, to: string): Promise<void> {
  await link(from, to).catch(async (error: unknown) => {
    if (!cannotLink.has(errorCodeOf(error))) throw error;
    await copyFile(from, to);
  });
}

/** A file of the data folder. */
export interface StoredFile {
  /** Below the data folder. */
  readonly path: string;
  /** Without it something is lost. */
  readonly isNeeded: boolean;
  /** Content never changes once it is there, so the file may be linked. */
  readonly isFinal: boolean;
}

const needed = (name: string): StoredFile => ({ path: name, isNeeded: true, isFinal: true });

/** Captures, files and films of runs, and large packs: their names in the data folder, and in a bucket. */
export async function* listObjects(store: BackupStore): AsyncGenerator<StoredFile> {
  for await (const screens of store.listScreens())
    for (const screen of screens)
      for (const kind of ['tree', 'screenshot'] as const)
        if (screen[kind] === 'stored') {
          const key = { recordId: screen.record_id, screenId: screen.screen_id, kind };
          yield needed(`${capturesName}/${capturePath(key)}`);
        }
  for await (const files of store.listRunFiles())
    for (const { run_id: recordId, file_id: screenId } of files)
      yield needed(`${capturesName}/${capturePath({ recordId, screenId, kind: 'file' })}`);
  for await (const parts of store.listFilmParts())
    for (const part of parts) yield needed(`${capturesName}/${capturePath(blobOfPart(part))}`);
  yield* (await store.listLargePacks()).flatMap(packFiles).map(needed);
  // Rows of a copy of PostgreSQL that is some days older name them.
  for (const name of (await store.listRemovedPacks()).flatMap(packFiles))
    yield { path: name, isNeeded: false, isFinal: true };
}

const packFiles = (key: string): string[] => largePackPaths(key).map((name) => `${largePacksName}/${name}`);

/** Files that no row names. */
export const ownFiles: readonly StoredFile[] = [{ path: 'first-token', isNeeded: false, isFinal: false }];
