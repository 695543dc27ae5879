import { close, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

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
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import type { FolderLock } from '../folder-lock.ts';
import { storable } from '../storable-text.ts';
import type { Database as Tables, Db } from '../tables/tables.ts';
import { ConnectionLock } from './connection-lock.ts';
import { ReaderDialect } from './reader-dialect.ts';

/** Value of `PRAGMA synchronous` where nothing has to outlive a loss of power. */
const off = 0;

/** The file that commits are appended to. */
class WriteAheadLog {
  readonly #sqlite: Database.Database;
  #descriptor: number | undefined;

  constructor(sqlite: Database.Database) {
    this.#sqlite = sqlite;
  }

  async sync(): Promise<void> {
    if (this.#sqlite.pragma('synchronous', { simple: true }) === off) return;
    // The first commit has made it, and it stays the same file for as long as the database is open.
    this.#descriptor ??= openSync(`${this.#sqlite.name}-wal`, 'r+');
    await promisify(fdatasync)(this.#descriptor);
  }

  async close(): Promise<void> {
    if (this.#descriptor !== undefined) await promisify(close)(this.#descriptor);
  }
}

/**
 * On a full disk and on errors of the disk, SQLite ends the transaction by itself; a rollback after that would fail,
 * and its error would hide the first one.
 *
 * There is one connection. It is free for the next user as soon as something is committed; the caller of the commit
 * waits until it is on the disk.
 */
class StrictSqliteDriver extends SqliteDriver {
  readonly #sqlite: Database.Database;
  readonly #folder: FolderLock;
  readonly #reader: Db;
  readonly #lock: ConnectionLock;
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
    this.#lock = new ConnectionLock();
    this.#log = new WriteAheadLog(sqlite);
    this.#flush = new CommitFlush(() => this.#log.sync());
    this.#checkpoints = new Checkpoints(sqlite, this.#lock);
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    await this.#lock.take();
    return super.acquireConnection();
  }

  override async releaseConnection(): Promise<void> {
    const hasWritten = this.#writes.areThere;
    this.#writes.areThere = false;
    this.#lock.release();
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

/** All migrations are one transaction: whatever ends it in the middle, the next start finds the tables as they were. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  /** The same tables, only to be read, by a connection of its own in a thread. */
  readonly reader: Db;

  constructor(reader: Db) {
    super();
    this.reader = reader;
  }

  override get supportsTransactionalDdl(): boolean {
    return true;
  }

  /** The driver itself hands out its only connection, to one after the other. */
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

/** The connection that only reads. Throws for a database that another dialect has opened. */
export function readerOf(db: Db): Db {
  const { adapter } = db.getExecutor();
  if (adapter instanceof TransactionalSqliteAdapter) return adapter.reader;
  throw new Error('the database has no reader');
}

/** Row locks (`FOR UPDATE` and its like) say nothing here: SQLite has one writing transaction at a time. */
class LocklessQueryCompiler extends SqliteQueryCompiler {
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (node.modifier?.startsWith('For') !== true) super.visitSelectModifier(node);
  }

  /** Texts are the same as on PostgreSQL. */
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

/** Maximum kept statements, since many texts come once; then all are dropped, and the hot ones are soon back. */
const maxKept = 500;

/** Whether the present holder of the connection has written. */
interface Writes {
  areThere: boolean;
}

/** Kysely prepares every query anew, which takes longer than most of them; here a text is prepared once. */
function keepStatements(sqlite: Database.Database, writes: Writes): SqliteDatabase {
  const kept = new Map<string, Database.Statement>();
  const prepare = (text: string): Database.Statement => {
    const known = kept.get(text);
    if (known !== undefined) return known;
    if (kept.size >= maxKept) kept.clear();
    const statement = sqlite.prepare(text);
    kept.set(text, statement);
    return statement;
  };
  return {
    prepare(text) {
      const statement = prepare(text);
      if (!statement.readonly) writes.areThere = true;
      return statement;
    },
    close: () => void sqlite.close(),
  };
}

/**
 * Flushes of the disk that commits of one moment share. SQLite's own flushes would stop the event loop, and with it all
 * requests that only read.
 */
export class CommitFlush {
  readonly #sync: () => Promise<void>;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(sync: () => Promise<void>) {
    this.#sync = sync;
  }

  /** Resolves when all that was committed before is on the disk. Rejects with what the disk says. */
  flush(): Promise<void> {
    this.#next ??= this.#running.catch(() => undefined).then(() => this.#begin());
    return this.#next;
  }

  /** Resolves when no flush is under way any more. */
  async whenDone(): Promise<void> {
    await (this.#next ?? this.#running).catch(() => undefined);
  }

  #begin(): Promise<void> {
    this.#running = this.#next ?? this.#running;
    this.#next = undefined;
    return this.#sync();
  }
}

/** Length at which the log has to end, so that it begins anew: 64 MB. Nobody uses the database meanwhile. */
const maxLoggedPages = 16_000;
/** Number of pages whose checkpoint nobody notices: 4 MB. */
const fewPages = 1000;
const maxRounds = 5;
/** Delay of a checkpoint; commits within it are brought in together. */
const pauseMs = 1000;
/** Minimum changed rows for a checkpoint: the next write to a log that was brought in whole flushes its new head. */
const leastChanges = 5000;

/** Arguments of a `message` event. */
const answers = Compile(Type.Tuple([Type.Number()]));

/**
 * Runs checkpoints in a thread of its own: it brings what was committed from the write-ahead log into the database
 * file, which takes several flushes of the disk.
 */
class Checkpoints {
  readonly #sqlite: Database.Database;
  readonly #lock: ConnectionLock;
  readonly #countChanges: Database.Statement;
  #changesBefore: unknown;
  #thread: Worker | undefined;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(sqlite: Database.Database, lock: ConnectionLock) {
    this.#sqlite = sqlite;
    this.#lock = lock;
    sqlite.pragma('wal_autocheckpoint = 0');
    this.#countChanges = sqlite.prepare('SELECT total_changes()').pluck();
    this.#changesBefore = this.#countChanges.get();
  }

  noteCommit(): void {
    this.#timer ??= setTimeout(() => {
      this.#running = this.#work().finally(() => (this.#timer = undefined));
    }, pauseMs).unref();
  }

  /** Resolves when the thread has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
    if (this.#thread === undefined) return;
    const ended = once(this.#thread, 'exit');
    this.#thread.ref();
    this.#thread.postMessage('close');
    await ended;
  }

  async #work(): Promise<void> {
    const changes = this.#countChanges.get();
    if (Number(changes) - Number(this.#changesBefore) < leastChanges) return;
    this.#changesBefore = changes;
    const loggedPages = await this.#bringIn();
    if (loggedPages >= maxLoggedPages) await this.#beginAnew(loggedPages);
  }

  /**
   * Repeats checkpoints until few new pages have come, then runs the last one with the lock. Constant writes would
   * never let the log end.
   */
  async #beginAnew(before: number): Promise<void> {
    let loggedPages = before;
    for (let round = 1; round < maxRounds; round += 1) {
      const now = await this.#bringIn();
      if (now - loggedPages < fewPages) break;
      loggedPages = now;
    }
    if (this.#isClosed) return;
    await this.#lock.take();
    try {
      await this.#bringIn();
    } finally {
      this.#lock.release();
    }
  }

  /** Runs a checkpoint. Returns the length of the log then, in pages. Starts a new thread after one has failed. */
  async #bringIn(): Promise<number> {
    const thread = (this.#thread ??= this.#startThread());
    try {
      const answered = once(thread, 'message');
      thread.postMessage('bring in');
      const answer: unknown = await answered;
      if (answers.Check(answer)) return answer[0];
    } catch {
      // The disk or the memory has no more; what is in the log can wait there.
    }
    return 0;
  }

  #startThread(): Worker {
    const file = new URL('checkpoint-thread.ts', import.meta.url);
    const thread = new Worker(file, { workerData: this.#sqlite.name });
    thread.unref();
    return thread.on('error', () => (this.#thread = undefined));
  }
}
