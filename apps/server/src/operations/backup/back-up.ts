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

/** Error codes of file systems that can't hard-link a file. */
const cannotLink = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK']);

/** Gathers files of the data folder in a staging folder, where no server deletes them. */
class Staging {
  readonly #dataDir: string;
  readonly #folder: string;
  readonly #staged = new Set<string>();

  constructor(dataDir: string, folder: string) {
    this.#dataDir = dataDir;
    this.#folder = folder;
  }

  /**
   * Stages files. Returns the paths of required files that are missing. Call it again with the files that rows name
   * then.
   */
  async take(files: AsyncIterable<StoredFile> | Iterable<StoredFile>): Promise<string[]> {
    const missing: string[] = [];
    for await (const file of files) {
      if (this.#staged.has(file.path)) continue;
      if (await this.#takeOne(file)) this.#staged.add(file.path);
      else if (file.isNeeded) missing.push(file.path);
    }
    return missing;
  }

  /** Stages a file. Returns false when it does not exist. */
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
  /** Bucket of captures and large packs; undefined when they are in the data folder. */
  readonly s3: S3Config | undefined;
}

interface BackupResult extends Manifest {
  /** Files that rows name and that are lost. */
  readonly missing: readonly string[];
}

/** Maximum number of rounds. Files that were deleted during one round are no longer required in the next. */
const maxRounds = 5;

/**
 * Backs up the data folder to a new file, also while a server is running. Copies the database first, then the files
 * that its rows name, which are written before their rows. A file that is missing was deleted with its row, so the
 * database is copied again.
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

/** Gathers the database and the files. Returns the paths of missing files. */
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
  /** Path relative to the data folder. */
  readonly path: string;
  /** Whether a backup without this file is incomplete. */
  readonly isNeeded: boolean;
  /** Whether the content is immutable, so that the file may be hard-linked. */
  readonly isFinal: boolean;
}

const needed = (name: string): StoredFile => ({ path: name, isNeeded: true, isFinal: true });

/** Lists captures, files and films of runs, and large packs, by their names in the data folder and in a bucket. */
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
  // Removed packs are included because a PostgreSQL copy that is some days older still names them.
  for (const name of (await store.listRemovedPacks()).flatMap(packFiles))
    yield { path: name, isNeeded: false, isFinal: true };
}

const packFiles = (key: string): string[] => largePackPaths(key).map((name) => `${largePacksName}/${name}`);

/** Files that are not named by rows. */
export const ownFiles: readonly StoredFile[] = [{ path: 'first-token', isNeeded: false, isFinal: false }];
