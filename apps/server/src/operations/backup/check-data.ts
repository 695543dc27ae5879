import { access } from 'node:fs/promises';
import path from 'node:path';
import { dataDir as dataDirSetting, explainFolder } from '@phalanx/settings';
import { databaseFileOf, problemsOfSqlite } from '../../storage/db/database.ts';
import { openToRead, requireDatabase } from '../../storage/db/open-to-read.ts';
import { problemsOfProjects } from '../../code/projects/packs/check-projects.ts';
import { Bucket } from '../../storage/blobs/s3/bucket.ts';
import { explainS3 } from '../../storage/blobs/s3/s3-exchange.ts';
import { type DataPlace, listObjects, ownFiles, type StoredFile } from './back-up.ts';
import { type BackupStore, createBackupStore } from './store.ts';

interface CheckedPlace extends DataPlace {
  /** Search path for git. */
  readonly searchPath: string;
}

interface CheckReport {
  /** Problems, one line each; empty when the data is intact. */
  readonly problems: readonly string[];
  readonly files: number;
  readonly projects: number;
}

/**
 * Checks the integrity of a data folder, also while a server is running: the database, the files that its rows name,
 * and the projects.
 */
export async function checkData(place: CheckedPlace): Promise<CheckReport> {
  try {
    return await check(place);
  } catch (error) {
    throw explainFolder(error, { setting: dataDirSetting.name, folder: place.dataDir });
  }
}

async function check({ dataDir, databaseUrl, s3, searchPath }: CheckedPlace): Promise<CheckReport> {
  const isEmbedded = databaseUrl === undefined;
  if (isEmbedded) await requireDatabase(dataDir);
  const damages = isEmbedded ? problemsOfSqlite(databaseFileOf(dataDir)) : [];
  // Damaged rows say nothing about the files that they name.
  if (damages.length > 0)
    return { problems: damages.map((line) => `database: ${line}`), files: 0, projects: 0 };
  const db = await openToRead({ dataDir, databaseUrl });
  const bucket = s3 === undefined ? undefined : new Bucket(s3);
  try {
    const store = createBackupStore(db);
    const places = { dataDir, bucket, store };
    const first = await findMissing(places);
    // A second look excludes files that a server deleted after their rows were read.
    const second = first.missing.size === 0 ? first : await findMissing(places);
    const missing = [...second.missing].filter((name) => first.missing.has(name));
    const projects = await store.listProjects();
    const ofProjects = await problemsOfProjects({ db, dataDir, bucket, searchPath }, projects);
    const problems = [...missing.map((name) => `missing: ${name}`), ...ofProjects];
    return { problems, files: second.files, projects: projects.length };
  } catch (error) {
    throw explainS3(error);
  } finally {
    bucket?.close();
    await db.destroy();
  }
}

interface Places {
  dataDir: string;
  bucket: Bucket | undefined;
  store: BackupStore;
}

interface Found {
  files: number;
  missing: Set<string>;
}

type Look = (name: string) => Promise<boolean>;

async function findMissing({ dataDir, bucket, store }: Places): Promise<Found> {
  const found = { files: 0, missing: new Set<string>() };
  const inFolder: Look = (name) =>
    access(path.join(dataDir, name)).then(
      () => true,
      () => false,
    );
  await lookFor(ownFiles, inFolder, found);
  const inBucket = bucket && (async (name: string) => (await bucket.find(name)) !== undefined);
  await lookFor(listObjects(store), inBucket ?? inFolder, found);
  return found;
}

/** Number of concurrent lookups: remote storage answers many as fast as one. */
const looksAtOnce = 32;

async function lookFor(
  files: AsyncIterable<StoredFile> | Iterable<StoredFile>,
  isThere: Look,
  found: Found,
): Promise<void> {
  const look = async ({ path: name }: StoredFile): Promise<void> => {
    if (!(await isThere(name))) found.missing.add(name);
  };
  let some: StoredFile[] = [];
  for await (const file of files) {
    if (!file.isNeeded) continue;
    found.files += 1;
    some.push(file);
    if (some.length < looksAtOnce) continue;
    await Promise.all(some.map(look));
    some = [];
  }
  await Promise.all(some.map(look));
}
