import path from 'node:path';
import Sqlite from 'better-sqlite3';
import type { Dialect } from 'kysely';

import { lockForServer } from './folder-lock.ts';
import { StrictSqliteDialect } from './sqlite-dialect.ts';

/** A backup that opens the file at the same moment reads it in, if it has to be, within that. */
const busyMs = 1000;

/** Throws when the file can't be used, also because another server has its folder. */
export function openSqlite(file: string): Dialect {
  const lock = lockForServer(path.dirname(file));
  try {
    const sqlite = new Sqlite(file, { timeout: busyMs });
    try {
      configure(sqlite);
      return new StrictSqliteDialect(sqlite, lock);
    } catch (error) {
      sqlite.close();
      throw error;
    }
  } catch (error) {
    lock.release();
    throw error;
  }
}

function configure(sqlite: Sqlite.Database): void {
  sqlite.pragma('journal_mode = WAL');
  // A reply of success outlives a loss of power: each commit waits for its own flush (`commit-flush.ts`).
  sqlite.pragma('synchronous = NORMAL');
  sqlite.pragma('foreign_keys = ON');
}
