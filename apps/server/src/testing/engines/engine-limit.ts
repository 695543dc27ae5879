import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';

/**
 * Default limit, in ms: longer than anything takes on a machine that is busy with other things, shorter than the
 * timeout of a hook.
 */
const defaultLimitMs = 120_000;
const askTimeoutMs = 3000;

interface Work<Result> {
  /** The work, for example `CREATE DATABASE t1`. */
  what: string;
  /** The address of a database of the engine. */
  url: string;
  work: () => Promise<Result>;
  limitMs?: number;
}

/** Rejects at the limit, with what the connections of the engine do then and which of them wait for which. */
export async function withinEngineLimit<Result>({
  what,
  url,
  work,
  limitMs = defaultLimitMs,
}: Work<Result>): Promise<Result> {
  const ended = new AbortController();
  const late = pause(limitMs, undefined, { signal: ended.signal }).then(async () => {
    throw new Error(`${what} has taken more than ${limitMs / 1000} s. ${await describeConnections(url)}`);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    // Nobody hears that it was ended.
    late.catch(() => undefined);
    ended.abort();
  }
}

/** Describes the connections, one a line. */
async function describeConnections(url: string): Promise<string> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: askTimeoutMs,
    query_timeout: askTimeoutMs,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<Record<string, unknown>>(`
      SELECT pid, datname AS database, state, wait_event_type || ' ' || wait_event AS waits_for,
        pg_blocking_pids(pid) AS blocked_by, left(query, 200) AS statement
      FROM pg_stat_activity WHERE datname IS NOT NULL AND pid <> pg_backend_pid() ORDER BY pid`);
    return ['The connections of PostgreSQL:', ...rows.map((row) => JSON.stringify(row))].join('\n');
  } catch (error) {
    return `PostgreSQL does not answer either: ${String(error)}`;
  } finally {
    void client.end().catch(() => undefined);
  }
}
