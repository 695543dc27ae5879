import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import Sqlite from 'better-sqlite3';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

export interface ConnectionOptions {
  readonly file: string;
  readonly readonly: boolean;
}

export interface ThreadQuery {
  readonly text: string;
  readonly parameters: readonly unknown[];
}

export interface ThreadAnswer {
  readonly rows: unknown[];
  /** Code of SQLite's error; otherwise empty. */
  readonly code: string;
  readonly message: string;
}

/** Arguments of a `message` event. */
const answers = Compile(
  Type.Tuple([
    Type.Object({ rows: Type.Array(Type.Unknown()), code: Type.String(), message: Type.String() }),
  ]),
);

/**
 * SQLite connection in a separate thread, so that the event loop does not wait for it. The thread starts with the first
 * statement, and again after it has failed.
 */
export class ThreadConnection implements DatabaseConnection {
  readonly #options: ConnectionOptions;
  #thread: Worker | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
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
    throw new Error('a thread of SQLite gives all rows at once');
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

  async #ask(query: ThreadQuery): Promise<ThreadAnswer> {
    const thread = (this.#thread ??= this.#start());
    thread.ref();
    try {
      const answered = once(thread, 'message');
      thread.postMessage(query);
      const answer: unknown = await answered;
      if (!answers.Check(answer)) throw new Error('a thread of SQLite gave an unknown answer');
      return answer[0];
    } finally {
      thread.unref();
    }
  }

  #start(): Worker {
    const thread = new Worker(new URL('connection-thread.ts', import.meta.url), {
      workerData: this.#options,
    });
    return thread.on('error', () => (this.#thread = undefined));
  }
}
