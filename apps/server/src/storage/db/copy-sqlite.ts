import Sqlite from 'better-sqlite3';
import { readBusyMs } from './database.ts';

/** Copies what was committed up to now to a new file, whoever writes meanwhile. */
export function copySqlite(file: string, to: string): void {
  const sqlite = new Sqlite(file, { fileMustExist: true, timeout: readBusyMs });
  try {
    sqlite.prepare('VACUUM INTO ?').run(to);
  } finally {
    sqlite.close();
  }
}
