import { setTimeout as wait } from 'node:timers/promises';
import { SettingError } from '@phalanx/settings';
import type { Client } from 'pg';

import { clientConfig, HastyClient } from './postgres.ts';
import { explainPostgres } from './postgres-problem.ts';

const retryMs = 200;
/** A server that was killed has the lock until PostgreSQL has noticed. */
const startPatienceMs = 3000;
/** After its network was cut, our own last connection may have the lock for a while. */
const returnPatienceMs = 15_000;

const inUse = (): SettingError =>
  new SettingError(
    'The database of PHALANX_DATABASE_URL is in use by another server: stop that one, or give this one a database of its own.',
  );

/**
 * One server works with a database: a lock that lives as long as a connection of its own. When that is cut, the lock
 * is taken again as soon as PostgreSQL is back.
 */
export class SoleServer {
  readonly #url: string;
  readonly #taken = Promise.withResolvers<never>();
  #client: Client | undefined;
  #isClosed = false;

  private constructor(url: string) {
    this.#url = url;
    this.#taken.promise.catch(() => undefined);
  }

  /** Throws a `SettingError` when another server has the database. */
  static async of(url: string): Promise<SoleServer> {
    const server = new SoleServer(url);
    try {
      await server.#lock(startPatienceMs);
    } catch (error) {
      throw explainPostgres(error);
    }
    return server;
  }

  /** Rejects when another server has taken the database meanwhile: this one has to end. */
  get taken(): Promise<never> {
    return this.#taken.promise;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#client?.end().catch(() => undefined);
  }

  async #lock(patienceMs: number): Promise<void> {
    const client = new HastyClient(clientConfig(this.#url));
    client.on('error', () => undefined);
    await client.connect();
    this.#client = client;
    const until = performance.now() + patienceMs;
    while (!(await tryLock(client))) {
      if (performance.now() > until) {
        await client.end();
        throw inUse();
      }
      await wait(retryMs);
    }
    client.once('end', () => void this.#lockAgain());
  }

  async #lockAgain(): Promise<void> {
    while (!this.#isClosed) {
      try {
        return await this.#lock(returnPatienceMs);
      } catch (error) {
        if (error instanceof SettingError) return this.#taken.reject(error);
        await wait(retryMs);
      }
    }
  }
}

async function tryLock(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(
    "SELECT pg_try_advisory_lock(hashtextextended('phalanx server', 0)) AS locked",
  );
  return rows[0]?.locked === true;
}
