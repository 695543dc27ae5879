import type { Database } from 'better-sqlite3';
import { SqliteDialect, SqliteDriver, type DatabaseConnection, type Driver } from 'kysely';

import { keepStatements } from './kept-statements.ts';

/**
 * On a full disk and on errors of the disk, SQLite ends the transaction by itself; a rollback after that would fail,
 * and its error would hide the first one.
 */
class StrictSqliteDriver extends SqliteDriver {
  readonly #sqlite: Database;

  constructor(sqlite: Database) {
    super({ database: keepStatements(sqlite) });
    this.#sqlite = sqlite;
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#sqlite.inTransaction) await super.rollbackTransaction(connection);
  }
}

export class StrictSqliteDialect extends SqliteDialect {
  readonly #sqlite: Database;

  constructor(sqlite: Database) {
    super({ database: sqlite });
    this.#sqlite = sqlite;
  }

  override createDriver(): Driver {
    return new StrictSqliteDriver(this.#sqlite);
  }
}
