import { chownSync, statSync } from 'node:fs';
import path from 'node:path';
import Sqlite from 'better-sqlite3';

/** Lock on a file. It ends with the process that holds it, even by `kill -9`. */
export interface FolderLock {
  release(): void;
}

/** Takes the lock. Throws `SQLITE_BUSY` if another process holds it. */
function takeLock(file: string): FolderLock {
  const sqlite = new Sqlite(file, { timeout: 0 });
  try {
    // No data is ever written to the file.
    sqlite.pragma('journal_mode = MEMORY');
    sqlite.exec('BEGIN EXCLUSIVE');
    giveToOwner(file);
    return { release: () => void sqlite.close() };
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

/** Gives the file to the owner of the folder, who may make the next backup after root. */
function giveToOwner(file: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(path.dirname(file));
  chownSync(file, uid, gid);
}

/** Lock that keeps a data folder to one server. It does not lock the database, which a backup reads meanwhile. */
export const lockForServer = (dataDir: string): FolderLock => takeLock(path.join(dataDir, 'server.lock'));

/** Lock that allows one backup of a data folder at a time. */
export const lockForBackup = (dataDir: string): FolderLock => takeLock(path.join(dataDir, 'backup.lock'));
