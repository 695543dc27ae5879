import { setTimeout as pause } from 'node:timers/promises';
import { SettingError } from '@phalanx/settings';
import { Client } from 'pg';
import { backoffMs } from '@phalanx/timing/backoff';
import { clientConfig, connectTimeoutMs, explainPostgres } from './postgres/postgres.ts';

/** Interval of attempts to take the lock, in ms. */
const lookEveryMs = 200;
/** Short, because another server may take the database in the meantime. */
const backoff = { firstMs: 200, maxMs: 1000, jitter: 0.2 };
/** Time in ms to wait for the lock at startup: a killed server holds it until PostgreSQL has noticed. */
const startTimeoutMs = 3000;
/** Time in ms to wait for the lock after a cut, because this server's last connection may hold it for a while. */
const returnTimeoutMs = 15_000;

/** Whether a server has exclusive use of the database, or shares it with the others of a cluster. */
export type ClusterMode = 'single' | 'cluster';

const inUse: Readonly<Record<ClusterMode, string>> = {
  single:
    'Another server uses the database of PHALANX_DATABASE_URL: stop that server, give this one its own database, or set PHALANX_NATS_URL on both.',
  cluster:
    'Another server has exclusive use of the database of PHALANX_DATABASE_URL: stop that server, or set PHALANX_NATS_URL on it too.',
};

/**
 * Advisory lock of a server on its database: exclusive for a single server, shared for the servers of a cluster. It
 * lives as long as its own connection. After a cut, it is taken again as soon as PostgreSQL is back.
 */
export class ServerLock {
  readonly #url: string;
  readonly #mode: ClusterMode;
  readonly #taken = Promise.withResolvers<never>();
  #client: Client | undefined;
  #isClosed = false;

  private constructor(url: string, mode: ClusterMode) {
    this.#url = url;
    this.#mode = mode;
    this.#taken.promise.catch(() => undefined);
  }

  /** Takes the lock. Throws a `SettingError` when another server has the database and does not share it. */
  static async of(url: string, mode: ClusterMode = 'single'): Promise<ServerLock> {
    const lock = new ServerLock(url, mode);
    try {
      await lock.#lock(startTimeoutMs);
    } catch (error) {
      throw explainPostgres(error);
    }
    return lock;
  }

  /** Rejects when another server has taken the database after a cut, so this server has to stop. */
  get taken(): Promise<never> {
    return this.#taken.promise;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#client?.end().catch(() => undefined);
  }

  async #lock(timeoutMs: number): Promise<void> {
    const client = new Client({ ...clientConfig(this.#url), connectionTimeoutMillis: connectTimeoutMs });
    client.on('error', () => undefined);
    await client.connect();
    this.#client = client;
    const until = performance.now() + timeoutMs;
    while (!(await tryLock(client, this.#mode))) {
      if (performance.now() > until) {
        await client.end();
        throw new SettingError(inUse[this.#mode]);
      }
      await pause(lookEveryMs);
    }
    client.once('end', () => void this.#lockAgain());
  }

  async #lockAgain(): Promise<void> {
    for (let tries = 1; !this.#isClosed; tries += 1) {
      try {
        return await this.#lock(returnTimeoutMs);
      } catch (error) {
        if (error instanceof SettingError) return this.#taken.reject(error);
        await pause(backoffMs(backoff, tries));
      }
    }
  }
}

async function tryLock(client: Client, mode: ClusterMode): Promise<boolean> {
  const name = mode === 'single' ? 'pg_try_advisory_lock' : 'pg_try_advisory_lock_shared';
  const { rows } = await client.query<{ locked: boolean }>(
    `SELECT ${name}(hashtextextended('phalanx server', 0)) AS locked`,
  );
  return rows[0]?.locked === true;
}
