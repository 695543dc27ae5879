import Sqlite from 'better-sqlite3';
import { readBusyMs } from './database.ts';

/** Copies the committed data to a new file, even during writes. */
export function copySqlite(file: string, to: string): void {
  const sqlite = new Sqlite(file, { fileMustExist: true, timeout: readBusyMs });
  try {
    sqlite.prepare('VACUUM INTO ?').run(to);
  } finally {
    sqlite.close();
  }
}
