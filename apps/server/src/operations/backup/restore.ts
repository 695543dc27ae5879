import { access, constants, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder, SettingError, errorText } from '@phalanx/settings';
import { databaseFileOf, problemsOfSqlite } from '../../storage/db/database.ts';
import { errorCodeOf } from '../../kernel/errors/api-error.ts';
import { syncFolder } from '../../storage/blobs/synced-files.ts';
import { broken, type Manifest, manifestFiles, verifyManifest, unpackInto } from './archive.ts';

/**
 * Restores an archive to a data folder. Throws a `SettingError` when the folder is not empty, or when the archive is
 * incomplete; nothing of the archive is left behind then.
 */
export async function restore(archive: string, dataDir: string): Promise<Manifest> {
  process.umask(0o077);
  await requireReadable(archive);
  const wasThere = await requireEmpty(dataDir);
  const incoming = path.join(dataDir, 'incoming');
  try {
    makeFolder(incoming);
    await unpackInto(incoming, archive).catch((error: unknown) => {
      throw error instanceof SettingError ? error : broken(errorText(error), error);
    });
    const manifest = await verifyManifest(incoming);
    if (manifest.database === 'sqlite') requireWhole(databaseFileOf(incoming));
    await moveInto(dataDir, incoming);
    return manifest;
  } catch (error) {
    await rm(wasThere ? incoming : dataDir, { recursive: true, force: true });
    throw error;
  }
}

async function requireReadable(archive: string): Promise<void> {
  try {
    await access(archive, constants.R_OK);
  } catch (error) {
    const isThere = errorCodeOf(error) !== 'ENOENT';
    throw new SettingError(
      isThere ? `${archive} can't be read by this user.` : `There is no file ${archive}.`,
      {
        cause: error,
      },
    );
  }
}

/** Returns whether the folder exists. Throws when it is not empty. */
async function requireEmpty(dataDir: string): Promise<boolean> {
  try {
    if ((await readdir(dataDir)).length === 0) return true;
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return false;
    throw error;
  }
  throw new SettingError(
    `The folder ${dataDir} is not empty, and nothing was restored: move away what is there, or set PHALANX_DATA_DIR to another folder.`,
  );
}

function requireWhole(file: string): void {
  const [problem] = problemsOfSqlite(file);
  if (problem !== undefined) throw broken(`its database is damaged (${problem})`);
}

/** Moves the files into the data folder, the database last, so that a server that finds it finds everything. */
async function moveInto(dataDir: string, incoming: string): Promise<void> {
  for (const name of manifestFiles) await rm(path.join(incoming, name));
  const last = path.basename(databaseFileOf(dataDir));
  const names = await readdir(incoming);
  for (const name of names.filter((one) => one !== last))
    await rename(path.join(incoming, name), path.join(dataDir, name));
  await syncFolder(dataDir);
  if (names.includes(last)) await rename(path.join(incoming, last), path.join(dataDir, last));
  await rm(incoming, { recursive: true });
  await syncFolder(dataDir);
}
