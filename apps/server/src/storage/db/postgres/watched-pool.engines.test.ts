import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findFault } from '../../../kernel/faults/fault-monitor.ts';
import { isPostgresHere } from '../../../testing/engines/postgres-engine.ts';
import { postgresUrlOf } from '../../../testing/engines/test-database.ts';
import { clientConfig } from './postgres.ts';
import { WatchedPool } from './watched-pool.ts';

/** Proxy to PostgreSQL that can drop traffic without notifying either end. */
class LossyWay {
  readonly #server: Server;
  readonly #lost = new Set<Socket>();
  readonly #sockets = new Set<Socket>();
  #isSilent = false;

  constructor({ hostname, port }: URL) {
    this.#server = createServer((near) => {
      const far = connect(Number(port), hostname);
      this.#carry(near, far);
      this.#carry(far, near);
    }).listen(0, '127.0.0.1');
  }

  async portNumber(): Promise<string> {
    if (!this.#server.listening) await once(this.#server, 'listening');
    const address = this.#server.address();
    return typeof address === 'object' ? `${address?.port}` : '';
  }

  /** Drops all traffic on connections that are open now. */
  loseOpenConnections(): void {
    for (const socket of this.#sockets) this.#lost.add(socket);
  }

  /** Drops all traffic on any connection, until `carryOn`. */
  loseAll(): void {
    this.#isSilent = true;
    this.loseOpenConnections();
  }

  carryOn(): void {
    this.#isSilent = false;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #carry(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    if (this.#isSilent) this.#lost.add(from);
    from.on('data', (said) => {
      if (!this.#lost.has(from)) to.write(said);
    });
    from
      .on('error', () => undefined)
      .on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
  }
}

describe.skipIf(!isPostgresHere)('a pool of connections to PostgreSQL', () => {
  let way: LossyWay;
  let db: Kysely<unknown>;

  beforeEach(async () => {
    const url = new URL(await postgresUrlOf('watched_pool_test'));
    way = new LossyWay(url);
    url.port = await way.portNumber();
    const pool = new WatchedPool({ ...clientConfig(url.href), query_timeout: 3000 });
    db = new Kysely({ dialect: new PostgresDialect({ pool }) });
  });
  afterEach(async () => {
    way.close();
    await db.destroy();
  });

  const faultOf = async (work: Promise<unknown>): Promise<unknown> =>
    findFault(
      await work.then(
        () => undefined,
        (error: unknown) => error,
      ),
    );
  const silent = { part: 'database', code: 'database_unavailable', reason: 'it does not answer' };
  const ask = (): Promise<unknown> => sql`SELECT 1`.execute(db);

  it('refuses who waits for an engine that is silent, and who comes then, until it answers', async () => {
    // More than the pool has connections.
    const many = Array.from({ length: 15 }, ask);
    await Promise.all(many);
    way.loseAll();
    const waiting = Array.from({ length: 15 }, () => faultOf(ask()));
    for (const fault of await Promise.all(waiting)) expect(fault).toEqual(silent);
    expect(await faultOf(ask())).toEqual(silent);
    way.carryOn();
    await expect.poll(() => faultOf(ask()), { timeout: 10_000 }).toBeUndefined();
  });

  it('lets work take long, and wait long for a connection, at an engine that answers', async () => {
    const long = Array.from({ length: 12 }, () =>
      db.transaction().execute((transaction) => sql`SELECT pg_sleep(1.5)`.execute(transaction)),
    );
    expect((await Promise.all(long)).length).toBe(12);
  });

  it('gives up a connection that is lost while the engine answers on others', async () => {
    await ask();
    way.loseOpenConnections();
    const transaction = db.transaction().execute((one) => sql`SELECT 1`.execute(one));
    expect(await faultOf(transaction)).toEqual(silent);
    await ask();
  });
});
