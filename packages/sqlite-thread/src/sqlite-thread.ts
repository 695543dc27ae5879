import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

export interface SqliteThreadOptions {
  readonly file: string;
  readonly readonly: boolean;
}

/** Statement of SQL with the values of its parameters. */
export interface SqliteStatement {
  readonly text: string;
  readonly parameters?: readonly unknown[];
}

/** Statements that the thread executes together. */
export interface ThreadRequest {
  readonly statements: readonly SqliteStatement[];
  /** Whether the statements are one transaction. */
  readonly isTransaction: boolean;
  /** Whether the transaction survives a power loss once it is answered. */
  readonly isDurable: boolean;
}

export interface ThreadAnswer {
  /** Rows of each statement. */
  readonly rows: unknown[][];
  /** Code of SQLite's error; otherwise empty. */
  readonly code: string;
  readonly message: string;
}

const answers = Compile(
  Type.Object({
    rows: Type.Array(Type.Array(Type.Unknown())),
    code: Type.String(),
    message: Type.String(),
  }),
);

/**
 * SQLite connection in a separate thread, so that the event loop does not wait for it. Requests are executed one after
 * another, in order. The thread starts with the first request, and again after it has failed.
 */
export class SqliteThread {
  readonly #options: SqliteThreadOptions;
  #thread: Worker | undefined;
  /** Requests without an answer, oldest first. */
  readonly #waiting: PromiseWithResolvers<ThreadAnswer>[] = [];
  #isClosed = false;

  constructor(options: SqliteThreadOptions) {
    this.#options = options;
  }

  get isStarted(): boolean {
    return this.#thread !== undefined;
  }

  /** Executes one statement, and returns its rows. Rejects with an `SqliteError`. */
  async run<Row>(statement: SqliteStatement): Promise<Row[]> {
    const [rows = []] = await this.#ask({ statements: [statement], isTransaction: false, isDurable: false });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the statement says what they are
    return rows as Row[];
  }

  /**
   * Executes all statements in one transaction, or none of them. Rejects with an `SqliteError`. `isDurable`: whether
   * they survive a power loss once this resolves; without it, they survive the death of the process. Default: false.
   */
  async transact(
    statements: readonly SqliteStatement[],
    { isDurable = false }: { isDurable?: boolean } = {},
  ): Promise<void> {
    await this.#ask({ statements, isTransaction: true, isDurable });
  }

  /** Resolves when all requests are answered and the thread has ended. Later requests are rejected. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const thread = this.#thread;
    if (thread === undefined) return;
    const ended = once(thread, 'exit');
    thread.ref();
    thread.postMessage('close');
    await ended;
  }

  async #ask(request: ThreadRequest): Promise<unknown[][]> {
    if (this.#isClosed) throw new Error('the database is closed');
    const thread = (this.#thread ??= this.#start());
    const asked = Promise.withResolvers<ThreadAnswer>();
    this.#waiting.push(asked);
    thread.ref();
    thread.postMessage(request);
    const { rows, code, message } = await asked.promise;
    if (message !== '') throw new Sqlite.SqliteError(message, code);
    return rows;
  }

  #start(): Worker {
    const thread = new Worker(new URL('connection-thread.ts', import.meta.url), {
      workerData: this.#options,
    });
    thread.on('message', (answer: unknown) => this.#answered(thread, answer));
    thread.on('error', (error) => this.#failed(thread, error));
    thread.on('exit', () => this.#failed(thread, new Error('a thread of SQLite has ended')));
    return thread;
  }

  #answered(thread: Worker, answer: unknown): void {
    const asked = this.#waiting.shift();
    if (this.#waiting.length === 0) thread.unref();
    if (answers.Check(answer)) asked?.resolve(answer);
    else asked?.reject(new Error('a thread of SQLite gave an unknown answer'));
  }

  /** Rejects the requests that a failed thread leaves behind. */
  #failed(thread: Worker, error: unknown): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}
