import type Database from 'better-sqlite3';
import {
  type DatabaseConnection,
  type DialectAdapter,
  type Driver,
  type SqliteDatabase,
  SqliteAdapter,
  SqliteDialect,
  SqliteDriver,
} from 'kysely';

import { checkpointWhenQuiet } from './checkpoints.ts';
import type { FolderLock } from './folder-lock.ts';

/**
 * On a full disk and on errors of the disk, SQLite ends the transaction by itself; a rollback after that would fail,
 * and its error would hide the first one.
 */
class StrictSqliteDriver extends SqliteDriver {
  readonly #sqlite: Database.Database;
  readonly #noteCommit: () => void;

  constructor(sqlite: Database.Database, lock: FolderLock) {
    super({ database: keepStatements(sqlite, lock) });
    this.#sqlite = sqlite;
    this.#noteCommit = checkpointWhenQuiet(sqlite);
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await super.commitTransaction(connection);
    this.#noteCommit();
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#sqlite.inTransaction) await super.rollbackTransaction(connection);
  }
}

/** All migrations are one transaction: whatever ends it in the middle, the next start finds the tables as they were. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

export class StrictSqliteDialect extends SqliteDialect {
  readonly #sqlite: Database.Database;
  readonly #lock: FolderLock;

  constructor(sqlite: Database.Database, lock: FolderLock) {
    super({ database: sqlite });
    this.#sqlite = sqlite;
    this.#lock = lock;
  }

  override createAdapter(): DialectAdapter {
    return new TransactionalSqliteAdapter();
  }

  override createDriver(): Driver {
    return new StrictSqliteDriver(this.#sqlite, this.#lock);
  }
}

/** Texts with lists of their own come once; then all are forgotten, and the hot ones are soon back. */
const maxKept = 500;

/** Kysely prepares every query anew, which takes longer than most of them; here a text is prepared once. */
function keepStatements(sqlite: Database.Database, lock: FolderLock): SqliteDatabase {
  const kept = new Map<string, Database.Statement>();
  return {
    prepare(text) {
      const known = kept.get(text);
      if (known !== undefined) return known;
      if (kept.size >= maxKept) kept.clear();
      const statement = sqlite.prepare(text);
      kept.set(text, statement);
      return statement;
    },
    close() {
      sqlite.close();
      lock.release();
    },
  };
}
