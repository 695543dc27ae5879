import { chownSync, statSync } from 'node:fs';
import path from 'node:path';
import Sqlite from 'better-sqlite3';

/** Lock on a file. It is released when the process that holds it ends, even by `kill -9`. */
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

/** Gives the file to the owner of the folder, who may run the next backup after one by root. */
function giveToOwner(file: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(path.dirname(file));
  chownSync(file, uid, gid);
}

/** Locks a data folder for one server. Does not lock the database, which a backup may read at the same time. */
export const lockForServer = (dataDir: string): FolderLock => takeLock(path.join(dataDir, 'server.lock'));

/** Locks a data folder for one backup at a time. */
export const lockForBackup = (dataDir: string): FolderLock => takeLock(path.join(dataDir, 'backup.lock'));
