import { Socket } from 'node:net';
import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import { Client, type ClientConfig, DatabaseError, Pool, type PoolClient } from 'pg';
import { errorCodeOf } from '../../../kernel/errors/api-error.ts';
import { PartFailed } from '../../../kernel/faults/fault-monitor.ts';
import { storable } from '../storable-text.ts';
import { SilenceWatch } from './silence-watch.ts';

/** Maximum number of connections, enough for the CPUs of a database; further work waits for a free one. */
const maxConnections = 10;
const pingTimeoutMs = 1500;

/** Timeouts in ms of a connection to a responsive engine. Nearly all statements take less than a second. */
const timeouts = {
  statement_timeout: 30_000,
  lock_timeout: 10_000,
  idle_in_transaction_session_timeout: 30_000,
  /** Longer than the limit of the engine, so a missing answer by then means that the connection is lost. */
  query_timeout: 35_000,
  /** Maximum time to connect, and to wait for a free connection. */
  connectionTimeoutMillis: 30_000,
};

/** Pool whose connections do not wait for a silent engine. Its errors describe the fault. */
export class WatchedPool implements PostgresPool {
  readonly #pool: Pool;
  readonly #watch: SilenceWatch;

  constructor(config: ClientConfig) {
    const sockets = new Set<Socket>();
    const stream = (): Socket => {
      const socket = new Socket();
      sockets.add(socket.once('close', () => sockets.delete(socket)));
      return socket;
    };
    this.#pool = keepErrors(new Pool({ ...timeouts, ...config, stream, max: maxConnections }));
    this.#watch = new SilenceWatch({
      ping: () => ping(config),
      onSilence: () => {
        for (const socket of sockets) socket.destroy();
      },
      silenceError: () => unavailable('it does not answer', undefined),
    });
  }

  get options(): object {
    return this.#pool.options;
  }

  async connect(): Promise<PostgresPoolClient> {
    try {
      const connecting = (): Promise<PoolClient> => this.#pool.connect();
      return new WatchedClient(await this.#watch.guard(connecting, (late) => late.release()), this.#watch);
    } catch (error) {
      throw error instanceof PartFailed ? error : unavailable('no connection can be made', error);
    }
  }

  async end(): Promise<void> {
    this.#watch.close();
    await this.#pool.end();
  }
}

/** Connection of the pool while one user holds it. */
class WatchedClient implements PostgresPoolClient {
  readonly #client: PoolClient;
  readonly #watch: SilenceWatch;
  /** Whether a statement got no answer. The statement may still be executing, so the connection can't be reused. */
  #isLost = false;

  constructor(client: PoolClient, watch: SilenceWatch) {
    this.#client = client;
    this.#watch = watch;
  }

  query<Row>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
  query<Row>(cursor: PostgresCursor<Row>): PostgresCursor<Row>;
  query<Row>(
    text: string | PostgresCursor<Row>,
    values: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<Row>> | PostgresCursor<Row> {
    if (typeof text !== 'string') throw new Error('PostgreSQL gives all rows at once here');
    return this.#query(text, values.map(storable));
  }

  release(destroy = false): void {
    this.#client.release(destroy || this.#isLost);
  }

  async #query<Row>(text: string, values: unknown[]): Promise<PostgresQueryResult<Row>> {
    const client: PostgresPoolClient = this.#client;
    try {
      return await this.#watch.guard(() => client.query<Row>(text, values));
    } catch (error) {
      if (isUnanswered(error)) {
        this.#isLost = true;
        // Cut the connection, so that it refuses further statements, such as a rollback.
        this.#client.connection.stream.destroy();
        throw unavailable('it does not answer', error);
      }
      // Disk and process errors can have the same codes, so they are translated only here.
      throw cutCodes.has(errorCodeOf(error)) ? unavailable('the connection was cut', error) : error;
    }
  }
}

/** Whether the client's `query_timeout` has expired; its error has no code. */
const isUnanswered = (error: unknown): boolean =>
  error instanceof Error && error.message === 'Query read timeout';

const cutCodes: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENETUNREACH',
  'EHOSTUNREACH',
]);

const unavailable = (reason: string, cause: unknown): PartFailed =>
  new PartFailed({ part: 'database', code: 'database_unavailable', reason }, { cause });

/**
 * Adds error handlers to the pool and its connections, and returns the pool. A connection that is cut emits an error of
 * its own, beside that of the statement in flight, and an unhandled one ends the process.
 */
export function keepErrors(pool: Pool): Pool {
  pool.on('error', () => undefined);
  pool.on('connect', (client: PoolClient) => client.on('error', () => undefined));
  return pool;
}

/** Error code of PostgreSQL while it is starting or stopping. */
const notUp = '57P03';

/** Resolves when PostgreSQL answers, even with a refusal for lack of connections. */
async function ping(config: ClientConfig): Promise<void> {
  const client = new Client({ ...config, connectionTimeoutMillis: pingTimeoutMs });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code === notUp) throw error;
  } finally {
    void client.end().catch(() => undefined);
  }
}
