import Sqlite from 'better-sqlite3';
import type { Dialect } from 'kysely';

import { StrictSqliteDialect } from './sqlite-dialect.ts';

/** Throws when the file can't be used, also because another process has it. */
export function openSqlite(file: string): Dialect {
  const sqlite = new Sqlite(file, { timeout: 0 });
  try {
    configure(sqlite);
    return new StrictSqliteDialect(sqlite);
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

function configure(sqlite: Sqlite.Database): void {
  // One server a data folder: the lock is held for the life of the process and falls with it, also by `kill -9`.
  sqlite.pragma('locking_mode = EXCLUSIVE');
  sqlite.pragma('journal_mode = WAL');
  // A reply of success outlives a loss of power.
  sqlite.pragma('synchronous = FULL');
  sqlite.pragma('foreign_keys = ON');
}
