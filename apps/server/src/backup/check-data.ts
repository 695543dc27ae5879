import { access } from 'node:fs/promises';
import path from 'node:path';
import { dataDir as dataDirSetting, explainFolder } from '@phalanx/settings';

import { databaseFileOf, openToRead, problemsOfSqlite, requireDatabase } from '../db/read-tables.ts';
import { problemsOfProjects } from '../projects/check-projects.ts';
import type { DataPlace } from './back-up.ts';
import { type BackupStore, createBackupStore } from './store.ts';
import { listStoredFiles, ownFiles } from './stored-files.ts';

interface CheckedPlace extends DataPlace {
  /** Where git is looked for. */
  readonly searchPath: string;
}

interface CheckReport {
  /** A line each; empty when all is well. */
  readonly problems: readonly string[];
  readonly files: number;
  readonly projects: number;
}

/** Looks whether a data folder is whole, also while a server works in it: the database, the files that its rows name, the projects. */
export async function checkData(place: CheckedPlace): Promise<CheckReport> {
  try {
    return await check(place);
  } catch (error) {
    throw explainFolder(error, { setting: dataDirSetting.name, folder: place.dataDir });
  }
}

async function check({ dataDir, databaseUrl, searchPath }: CheckedPlace): Promise<CheckReport> {
  const isEmbedded = databaseUrl === undefined;
  if (isEmbedded) await requireDatabase(dataDir);
  const damages = isEmbedded ? problemsOfSqlite(databaseFileOf(dataDir)) : [];
  // What damaged rows name says nothing of the files.
  if (damages.length > 0)
    return { problems: damages.map((line) => `database: ${line}`), files: 0, projects: 0 };
  const db = await openToRead({ dataDir, databaseUrl });
  try {
    const store = createBackupStore(db);
    const first = await findMissing(dataDir, store, isEmbedded);
    // What a server has deleted since its row was read is not missing.
    const second = first.missing.size === 0 ? first : await findMissing(dataDir, store, isEmbedded);
    const missing = [...second.missing].filter((name) => first.missing.has(name));
    const projects = await store.listProjects();
    const ofProjects = await problemsOfProjects({ db, dataDir, searchPath }, projects);
    const problems = [...missing.map((name) => `missing: ${name}`), ...ofProjects];
    return { problems, files: second.files, projects: projects.length };
  } finally {
    await db.destroy();
  }
}

async function findMissing(
  dataDir: string,
  store: BackupStore,
  isEmbedded: boolean,
): Promise<{ files: number; missing: Set<string> }> {
  const missing = new Set<string>();
  let files = 0;
  const look = async (name: string): Promise<void> => {
    files += 1;
    await access(path.join(dataDir, name)).catch(() => missing.add(name));
  };
  for (const file of ownFiles) if (file.isNeeded) await look(file.path);
  for await (const file of listStoredFiles(store, isEmbedded)) if (file.isNeeded) await look(file.path);
  return { files, missing };
}
