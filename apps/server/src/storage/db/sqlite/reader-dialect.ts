import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import {
  CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  type DialectAdapter,
  type Driver,
  type Kysely,
  type QueryCompiler,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
} from 'kysely';
import Sqlite from 'better-sqlite3';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { ConnectionLock } from './connection-lock.ts';

export interface ReaderQuery {
  readonly text: string;
  readonly parameters: readonly unknown[];
}

export interface ReaderAnswer {
  readonly rows: unknown[];
  /** Code of the error; empty: the statement was executed. */
  readonly code: string;
  readonly message: string;
}

/** Arguments of a `message` event. */
const answers = Compile(
  Type.Tuple([
    Type.Object({ rows: Type.Array(Type.Unknown()), code: Type.String(), message: Type.String() }),
  ]),
);

/** The connection of the thread. The thread is started with the first statement, and again after it has failed. */
class ReaderConnection implements DatabaseConnection {
  readonly #file: string;
  #thread: Worker | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  get isStarted(): boolean {
    return this.#thread !== undefined;
  }

  async executeQuery<Row>({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows, code, message } = await this.#ask({ text, parameters });
    if (message !== '') throw new Sqlite.SqliteError(message, code);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the statement says what they are
    return { rows: rows as Row[] };
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('the reader of SQLite gives all rows at once');
  }

  /** Resolves when the thread has ended. */
  async close(): Promise<void> {
    const thread = this.#thread;
    if (thread === undefined) return;
    const ended = once(thread, 'exit');
    thread.ref();
    thread.postMessage('close');
    await ended;
  }

  async #ask(query: ReaderQuery): Promise<ReaderAnswer> {
    const thread = (this.#thread ??= this.#start());
    thread.ref();
    try {
      const answered = once(thread, 'message');
      thread.postMessage(query);
      const answer: unknown = await answered;
      if (!answers.Check(answer)) throw new Error('the reader of SQLite gave an unknown answer');
      return answer[0];
    } finally {
      thread.unref();
    }
  }

  #start(): Worker {
    const thread = new Worker(new URL('reader-thread.ts', import.meta.url), { workerData: this.#file });
    return thread.on('error', () => (this.#thread = undefined));
  }
}

/** Hands out the only connection to one transaction after the other. */
class ReaderDriver implements Driver {
  readonly #connection: ReaderConnection;
  readonly #lock = new ConnectionLock();

  constructor(file: string) {
    this.#connection = new ReaderConnection(file);
  }

  async init(): Promise<void> {
    // The thread is started when it is needed.
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    await this.#lock.take();
    return this.#connection;
  }

  async beginTransaction(): Promise<void> {
    await this.#connection.executeQuery(CompiledQuery.raw('begin'));
  }

  async commitTransaction(): Promise<void> {
    await this.#connection.executeQuery(CompiledQuery.raw('commit'));
  }

  async rollbackTransaction(): Promise<void> {
    // A thread that failed has taken its transaction with it.
    if (this.#connection.isStarted) await this.#connection.executeQuery(CompiledQuery.raw('rollback'));
  }

  async releaseConnection(): Promise<void> {
    this.#lock.release();
  }

  destroy(): Promise<void> {
    return this.#connection.close();
  }
}

/** A connection in a thread of its own, which only reads: the event loop and those who write do not wait for it. */
export class ReaderDialect implements Dialect {
  readonly #file: string;
  readonly #compiler: () => QueryCompiler;

  constructor(file: string, compiler: () => QueryCompiler) {
    this.#file = file;
    this.#compiler = compiler;
  }

  createAdapter(): DialectAdapter {
    return new SqliteAdapter();
  }

  createDriver(): Driver {
    return new ReaderDriver(this.#file);
  }

  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new SqliteIntrospector(db);
  }

  createQueryCompiler(): QueryCompiler {
    return this.#compiler();
  }
}
