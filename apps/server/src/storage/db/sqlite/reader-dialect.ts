import { SqliteThread } from '@phalanx/sqlite-thread';
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

/** Connection of Kysely to a thread. */
class ReaderConnection implements DatabaseConnection {
  readonly thread: SqliteThread;

  constructor(file: string) {
    this.thread = new SqliteThread({ file, readonly: true });
  }

  async executeQuery<Row>({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    return { rows: await this.thread.run<Row>({ text, parameters }) };
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('a thread of SQLite gives all rows at once');
  }
}

/** Driver with one connection, which Kysely hands out to one transaction after the other (`SqliteAdapter`). */
class ReaderDriver implements Driver {
  readonly #connection: ReaderConnection;

  constructor(file: string) {
    this.#connection = new ReaderConnection(file);
  }

  async init(): Promise<void> {
    // The thread starts on demand.
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  async beginTransaction(): Promise<void> {
    await this.#connection.executeQuery(CompiledQuery.raw('begin'));
  }

  async commitTransaction(): Promise<void> {
    await this.#connection.executeQuery(CompiledQuery.raw('commit'));
  }

  async rollbackTransaction(): Promise<void> {
    // A failed thread has lost its transaction.
    if (this.#connection.thread.isStarted) await this.#connection.executeQuery(CompiledQuery.raw('rollback'));
  }

  async releaseConnection(): Promise<void> {
    // A holder has no state to release.
  }

  destroy(): Promise<void> {
    return this.#connection.thread.close();
  }
}

/** Read-only connection in a separate thread, so that neither the event loop nor writers wait for it. */
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
