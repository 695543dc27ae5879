import {
  type DatabaseConnection,
  type DialectAdapter,
  type Driver,
  Kysely,
  type QueryCompiler,
  type SelectModifierNode,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  SqliteQueryCompiler,
} from 'kysely';
import type Database from 'better-sqlite3';
import { boundedCache } from '../../../kernel/bounded-cache.ts';
import { SerialQueue } from '../../../kernel/serial-queue.ts';
import type { FolderLock } from '../folder-lock.ts';
import { storable } from '../storable-text.ts';
import type { Database as Tables, Db } from '../tables/tables.ts';
import { Checkpoints } from './checkpoints.ts';
import { CommitFlush } from './commit-flush.ts';
import { ReaderDialect } from './reader-dialect.ts';
import { WriteAheadLog } from './write-ahead-log.ts';

/**
 * Driver that tolerates transactions that SQLite has ended by itself, on a full disk and on disk errors. A rollback
 * after that would fail, and its error would hide the first one.
 *
 * There is one connection. It is free for the next user as soon as something is committed; the caller of the commit
 * waits until it is on disk.
 */
class StrictSqliteDriver extends SqliteDriver {
  readonly #sqlite: Database.Database;
  readonly #folder: FolderLock;
  readonly #reader: Db;
  readonly #holders: SerialQueue;
  readonly #log: WriteAheadLog;
  readonly #flush: CommitFlush;
  readonly #checkpoints: Checkpoints;
  readonly #writes: Writes;

  constructor(sqlite: Database.Database, folder: FolderLock, reader: Db) {
    const writes: Writes = { areThere: false };
    super({ database: keepStatements(sqlite, writes) });
    this.#sqlite = sqlite;
    this.#folder = folder;
    this.#reader = reader;
    this.#writes = writes;
    this.#holders = new SerialQueue();
    this.#log = new WriteAheadLog(sqlite);
    this.#flush = new CommitFlush(() => this.#log.sync());
    this.#checkpoints = new Checkpoints(sqlite, this.#holders);
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    await this.#holders.take();
    return super.acquireConnection();
  }

  override async releaseConnection(): Promise<void> {
    const hasWritten = this.#writes.areThere;
    this.#writes.areThere = false;
    this.#holders.release();
    if (!hasWritten) return;
    this.#checkpoints.noteCommit();
    await this.#flush.flush();
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#sqlite.inTransaction) await super.rollbackTransaction(connection);
  }

  override async destroy(): Promise<void> {
    await this.#reader.destroy();
    await this.#checkpoints.close();
    await this.#flush.whenDone();
    await this.#log.close();
    this.#sqlite.close();
    this.#folder.release();
  }
}

/** Runs all migrations in one transaction: whatever interrupts it, the next start finds the tables unchanged. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  /** Same tables through a read-only connection in a thread. */
  readonly reader: Db;

  constructor(reader: Db) {
    super();
    this.reader = reader;
  }

  override get supportsTransactionalDdl(): boolean {
    return true;
  }

  /** True, because the driver itself hands out its only connection, to one user at a time. */
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

/** Returns the read-only connection. Throws for a database that another dialect has opened. */
export function readerOf(db: Db): Db {
  const { adapter } = db.getExecutor();
  if (adapter instanceof TransactionalSqliteAdapter) return adapter.reader;
  throw new Error('the database has no reader');
}

/** Omits row locks (`FOR UPDATE` and the like), because SQLite has one writing transaction at a time. */
class LocklessQueryCompiler extends SqliteQueryCompiler {
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (node.modifier?.startsWith('For') !== true) super.visitSelectModifier(node);
  }

  /** Stores texts in the same form as on PostgreSQL. */
  protected override addParameter(parameter: unknown): void {
    super.addParameter(storable(parameter));
  }
}

export class StrictSqliteDialect extends SqliteDialect {
  readonly #sqlite: Database.Database;
  readonly #lock: FolderLock;
  readonly #reader: Db;

  constructor(sqlite: Database.Database, lock: FolderLock) {
    super({ database: sqlite });
    this.#sqlite = sqlite;
    this.#lock = lock;
    const dialect = new ReaderDialect(sqlite.name, () => this.createQueryCompiler());
    this.#reader = new Kysely<Tables>({ dialect });
  }

  override createAdapter(): DialectAdapter {
    return new TransactionalSqliteAdapter(this.#reader);
  }

  override createQueryCompiler(): QueryCompiler {
    return new LocklessQueryCompiler();
  }

  override createDriver(): Driver {
    return new StrictSqliteDriver(this.#sqlite, this.#lock, this.#reader);
  }
}

/** Maximum number of cached statements; many texts occur only once. */
const maxKept = 500;

/** Whether the current holder of the connection has written. */
interface Writes {
  areThere: boolean;
}

/** Caches prepared statements, because Kysely prepares every query again, which takes longer than most queries. */
function keepStatements(sqlite: Database.Database, writes: Writes): SqliteDatabase {
  const kept = boundedCache<Database.Statement>(maxKept);
  return {
    prepare(text) {
      const known = kept.get(text);
      const statement = known ?? sqlite.prepare(text);
      if (known === undefined) kept.set(text, statement);
      if (!statement.readonly) writes.areThere = true;
      return statement;
    },
    close: () => void sqlite.close(),
  };
}
