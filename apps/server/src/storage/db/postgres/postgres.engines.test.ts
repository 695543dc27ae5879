import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { SettingError } from '@phalanx/settings';
import { sql } from 'kysely';
import { Client } from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { findFault } from '../../../kernel/faults/fault-monitor.ts';
import { openTestDatabase, postgresUrlOf } from '../../../testing/engines/test-database.ts';
import { isPostgresHere } from '../../../testing/engines/postgres-engine.ts';
import { openDatabase } from '../database.ts';
import { ServerLock } from '../server-lock.ts';
import { transact } from '../transactions.ts';
import { enqueue } from '../work-queue.ts';

async function asOwner(url: string, ...statements: string[]): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

async function refusalOf(url: string): Promise<string> {
  const error: unknown = await openDatabase({ url }).then(
    (db) => db.destroy(),
    (refusal: unknown) => refusal,
  );
  expect(error).toBeInstanceOf(SettingError);
  return String(error);
}

describe.skipIf(!isPostgresHere)('PostgreSQL', () => {
  let url: URL;

  beforeAll(async () => {
    url = new URL(await postgresUrlOf('postgres_test'));
    await asOwner(url.href, "CREATE USER careful PASSWORD 'the right one'");
    return () => asOwner(url.href, 'DROP OWNED BY careful', 'DROP USER careful');
  });

  const changed = (change: Partial<URL>): string => Object.assign(new URL(url), change).href;

  it.each<[string, () => string, RegExp]>([
    ['is not there', () => changed({ port: '1' }), /does not answer: nothing listens/],
    ['is on no machine', () => changed({ hostname: 'nowhere.invalid' }), /the name of its machine/],
    ['has another password', () => changed({ username: 'careful', password: 'wrong' }), /password is wrong/],
    ['has no such database', () => changed({ pathname: '/nothing' }), /no database of this name/],
    ['has no TLS', () => changed({ search: '?sslmode=require' }), /does not support SSL/],
  ])('that %s is told of in a line without the password', async (_how, urlOf, says) => {
    const refusal = await refusalOf(urlOf());
    expect(refusal).toMatch(says);
    expect(refusal).toMatch(/PHALANX_DATABASE_URL\.$/);
    expect(refusal).not.toMatch(/\n|wrong@|right/);
  });

  it('whose user may make no tables is told of', async () => {
    const empty = changed({ pathname: '/empty', username: 'careful', password: 'the right one' });
    await asOwner(url.href, 'CREATE DATABASE empty');
    expect(await refusalOf(empty)).toMatch(/does not let the user create tables/);
    await asOwner(url.href, 'DROP DATABASE empty');
  });

  it('that stores other texts than Unicode is refused', async () => {
    await asOwner(url.href, "CREATE DATABASE latin ENCODING LATIN1 LOCALE 'C' TEMPLATE template0");
    expect(await refusalOf(changed({ pathname: '/latin' }))).toMatch(/database in LATIN1/);
    await asOwner(url.href, 'DROP DATABASE latin');
  });

  it('whose machine resets a connection is told of as a fault, not as a mistake of ours', async () => {
    const sockets = new Set<Socket>();
    const door = createServer((near) => {
      const far = connect(Number(url.port), url.hostname);
      for (const socket of [near, far]) sockets.add(socket.on('error', () => undefined));
      near.pipe(far).pipe(near);
    }).listen(0, '127.0.0.1');
    await once(door, 'listening');
    const address = door.address();
    const port = typeof address === 'object' ? `${address?.port}` : '';
    const db = await openDatabase({ url: changed({ port }) });
    const slow = sql`SELECT pg_sleep(30)`.execute(db).catch((error: unknown) => error);
    await sql`SELECT 1`.execute(db);
    for (const socket of sockets) socket.resetAndDestroy();
    expect(findFault(await slow)).toMatchObject({ part: 'database', code: 'database_unavailable' });
    await db.destroy();
    door.close();
  });

  it('may cut every connection, also in a transaction: what was under way fails, and the next goes well', async () => {
    const db = await openTestDatabase('PostgreSQL');
    const waiting = Array.from({ length: 8 }, () =>
      transact(db, (transaction) => sql`SELECT pg_sleep(30)`.execute(transaction)).catch(
        (error: unknown) => error,
      ),
    );
    const others = sql<{ pid: number }>`SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE 'SELECT pg_sleep%'`;
    await expect.poll(async () => (await others.execute(db)).rows).toHaveLength(8);
    await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`.execute(db);
    for (const error of await Promise.all(waiting)) expect(findFault(error)?.part).toBe('database');
    await sql`SELECT 1`.execute(db);
  });

  it('gives counts, sums and whole numbers as numbers, and sorts texts by their code points', async () => {
    const db = await openTestDatabase('PostgreSQL');
    const items = ['b', 'B', 'ä', 'a', '_'].map((key) => ({ key }));
    await transact(db, (transaction) => enqueue(transaction, 'delete captures', items));
    const rows = await db.selectFrom('work').select('key').orderBy('key').execute();
    expect(rows.map(({ key }) => key)).toEqual(['B', '_', 'a', 'b', 'ä']);
    const figures =
      await sql`SELECT count(*) AS count, sum(length(key)) AS sum, 9007199254740991::bigint AS large
      FROM work`.execute(db);
    expect(figures.rows).toEqual([{ count: 5, sum: 5, large: Number.MAX_SAFE_INTEGER }]);
  });

  it('works for one server, until that one has ended', async () => {
    const first = await ServerLock.of(url.href);
    await expect(ServerLock.of(url.href)).rejects.toThrow(/^Another server /);
    await first.close();
    await (await ServerLock.of(url.href)).close();
  });

  it('is taken again by its server when the connection was cut, and tells it when another one has it', async () => {
    const first = await ServerLock.of(url.href);
    const cut = `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    const thief = new Client({ connectionString: url.href });
    await thief.connect();
    const holders = async (): Promise<number[]> =>
      (await thief.query<{ pid: number }>(cut.replace('pg_terminate_backend(pid)', 'pid'))).rows.map(
        ({ pid }) => pid,
      );
    const [before] = await holders();
    await asOwner(url.href, cut);
    await expect.poll(holders).not.toContain(before);
    await expect.poll(holders).toHaveLength(1);
    // This time, another server takes the lock first: it waits for it before the cut one can be back.
    await thief.query(
      `${cut} AND pid <> pg_backend_pid(); SELECT pg_advisory_lock(hashtextextended('phalanx server', 0))`,
    );
    await expect(first.taken).rejects.toThrow(/^Another server /);
    await thief.end();
    await first.close();
  });
});
