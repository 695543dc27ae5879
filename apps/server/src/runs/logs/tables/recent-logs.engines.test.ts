import { sql } from 'kysely';
import type { WireLogEntry } from '@phalanx/protocol';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccessStore } from '../../../http/access/store.ts';
import type { Db } from '../../../storage/db/database.ts';
import { addRun, openHost } from '../../../testing/fleet-rows.ts';
import { TestClock } from '../../../testing/test-clock.ts';
import { openTestDatabase } from '../../../testing/engines/test-database.ts';
import { isPostgresHere } from '../../../testing/engines/postgres-engine.ts';
import { entrySeparator, idOfEntry, type IncomingEntries, messageOfEntry } from '../log-batch.ts';
import type { LogTables } from './log-tables.ts';
import { createPostgresTables } from './postgres-tables-store.ts';
import { createProgressStore } from './progress-store.ts';
import { RecentLogs } from './recent-logs.ts';
import { minuteMs, hourMs } from '@phalanx/timing/durations';

const stream = {
  runId: 'run',
  deviceId: 'phone',
  automationId: 'automation',
  userId: 'user',
  isDirect: false,
};

let epoch = 0;

function numbered(firstSeq: number, count: number, runId = stream.runId): IncomingEntries {
  const entries = Array.from({ length: count }, (_, at): WireLogEntry => [
    Date.now(),
    0,
    1,
    `${firstSeq + at}`,
  ]);
  return { stream: { ...stream, runId }, firstSeq, entries, epoch };
}

const tryTo = (work: () => Promise<unknown>): Promise<boolean> =>
  work().then(
    () => true,
    () => false,
  );

const upTo = (count: number): string[] => Array.from({ length: count }, (_, at) => `${at + 1}`);

describe.skipIf(!isPostgresHere)('log entries in tables', () => {
  let db: Db;
  let clock: TestClock;
  const tables = (): LogTables => createPostgresTables(db, createProgressStore(db));
  const open = (): Promise<RecentLogs> => RecentLogs.open({ tables: tables(), clock });

  beforeAll(async () => {
    db = await openTestDatabase('PostgreSQL');
    await createAccessStore(db).insertUser({ id: 'u', name: 'u', role: 'user', created_at: 0 });
  });
  beforeEach(async () => {
    clock = new TestClock();
    await db.deleteFrom('launch').execute();
    for (let slot = 0; slot < 16; slot += 1) await sql`TRUNCATE ${sql.table(`log_${slot}`)}`.execute(db);
    await db.updateTable('log_table').set({ state: 'empty' }).execute();
    await addRun(db, stream.runId);
    epoch = await connect();
  });

  /** Reconnects the host, to any server. */
  const connect = (): Promise<number> => openHost(db, { userId: 'u', hostId: 'host' });

  /** Uses all connections of the pool until none of the cut ones is left. */
  const useAllConnections = (): Promise<void> =>
    expect
      .poll(() =>
        tryTo(() => Promise.all(Array.from({ length: 50 }, () => sql`SELECT pg_sleep(0.01)`.execute(db)))),
      )
      .toBe(true);

  async function entriesIn(logs: RecentLogs, from = ''): Promise<string[]> {
    const entries: string[] = [];
    for await (const batches of logs.read(stream, from))
      for (const batch of batches) entries.push(...batch.entries.toString().split(entrySeparator));
    expect(entries.map(idOfEntry)).toEqual([...new Set(entries.map(idOfEntry))].toSorted());
    return entries;
  }
  const messagesIn = async (logs: RecentLogs): Promise<string[]> =>
    (await entriesIn(logs)).map(messageOfEntry);

  it('are stored once and in order when a host moves between servers whose clocks are apart', async () => {
    const clocks = [-1500, 0, 900].map((apartMs) => ({ now: () => Date.now() + apartMs }));
    const servers = await Promise.all(clocks.map((one) => RecentLogs.open({ tables: tables(), clock: one })));
    const read: string[] = [];
    let from = '';
    const follow = async (server: RecentLogs): Promise<void> => {
      const entries = await entriesIn(server, from);
      // A batch is read as a whole, from its first entry.
      read.push(...entries.filter((entry) => idOfEntry(entry) > from).map(messageOfEntry));
      from = idOfEntry(entries.at(-1) ?? '') || from;
    };
    let replaced = 0;
    for (let round = 0; round < 60; round += 1) {
      const [before, after, other] = [0, 1, 2].map((at) => servers[(round + at) % 3]);
      if (before === undefined || after === undefined || other === undefined)
        throw new Error('three servers');
      const first = round * 10 + 1;
      // Entries that the earlier server has not stored yet race with those that the host resends on its next
      // connection.
      const old = numbered(first, 5);
      const connected = connect();
      const late = (round % 2 === 0 ? before : await connected.then(() => before)).append([old]);
      const moved = connected.then((next) => {
        epoch = next;
        return after.append([numbered(first, 10)]);
      });
      const appended = await Promise.all([late, moved, follow(other)]);
      replaced += appended[0].replaced.size;
      expect(appended[1].replaced.size).toBe(0);
    }
    await follow(servers[0] ?? (await open()));
    expect(read).toEqual(upTo(600));
    expect(replaced).toBeGreaterThan(0);
  });

  it('of a connection that is replaced are not stored, and those beside them are', async () => {
    const logs = await open();
    const old = numbered(1, 2);
    await addRun(db, 'other');
    epoch = await openHost(db, { userId: 'u', hostId: 'another' });
    const beside = numbered(1, 2, 'other');
    await connect();
    const { batches, replaced } = await logs.append([old, beside]);
    expect(batches.map((batch) => batch.stream.runId)).toEqual(['other']);
    expect([...replaced]).toEqual([old.epoch]);
  });

  it('are read at once where another server has opened the table that they are in', async () => {
    const servers = [await open(), await open()] as const;
    await servers[0].append([numbered(1, 1)]);
    expect(await messagesIn(servers[1])).toEqual(upTo(1));
    clock.advance(minuteMs);
    await servers[0].append([numbered(2, 1)]);
    expect(await messagesIn(servers[1])).toEqual(upTo(2));
    clock.advance(minuteMs);
    await servers[1].append([numbered(3, 1)]);
    const [last = ''] = (await entriesIn(servers[1])).slice(-2).map(idOfEntry);
    expect(await messagesIn(servers[0])).toEqual(upTo(3));
    expect((await entriesIn(servers[0], last)).map(messageOfEntry).at(-1)).toBe('3');
  });

  it('go to one table when servers open the first one at the same time', async () => {
    const servers = await Promise.all(Array.from({ length: 5 }, open));
    await Promise.all(servers.map((server) => server.append([numbered(1, 1)])));
    const all = await tables().list();
    expect(all.filter(({ state }) => state === 'open')).toHaveLength(1);
    clock.advance(minuteMs);
    for (const server of servers) expect(await server.listUnkept()).toHaveLength(1);
  });

  it('go to the next table when another server has closed the one that is known', async () => {
    const servers = [await open(), await open()] as const;
    await servers[0].append([numbered(1, 1)]);
    await servers[1].append([numbered(1, 2)]);
    clock.advance(minuteMs);
    expect(await servers[0].listUnkept()).toHaveLength(1);
    clock.advance(-minuteMs);
    await servers[1].append([numbered(3, 1)]);
    expect(await messagesIn(await open())).toEqual(upTo(3));
  });

  it('are stored once when the connection was cut in the middle, whatever became of the statement', async () => {
    const logs = await open();
    let failures = 0;
    for (let round = 0; round < 40; round += 1) {
      const entries = [numbered(round * 10 + 1, 10)];
      const append = tryTo(() => logs.append(entries));
      await tryTo(() => sql`SELECT pg_sleep(${(round % 10) * 0.0004})`.execute(db));
      await tryTo(() =>
        sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid()`.execute(db),
      );
      if (!(await append)) failures += 1;
      // Other connections of the pool were also cut.
      await expect.poll(() => tryTo(() => logs.append(entries))).toBe(true);
    }
    await useAllConnections();
    expect(await messagesIn(logs)).toEqual(upTo(400));
    expect(failures).toBeGreaterThan(0);
  });

  it('of runs that are gone are dropped, and those beside them are stored', async () => {
    const logs = await open();
    const { batches } = await logs.append([numbered(1, 2, 'gone'), numbered(1, 2)]);
    expect(batches).toHaveLength(1);
    expect(await messagesIn(logs)).toEqual(upTo(2));
  });

  it('go on in the open table as long as no other one is empty', async () => {
    const logs = await open();
    for (let seq = 1; seq <= 20; seq += 1) {
      await logs.append([numbered(seq, 1)]);
      clock.advance(minuteMs);
    }
    await logs.expire();
    expect(await logs.listUnkept()).toHaveLength(15);
    expect(await messagesIn(logs)).toEqual(upTo(20));
    for (const closed of await logs.listUnkept()) await logs.markKept(closed);
    await logs.expire();
    await logs.append([numbered(21, 1)]);
    expect(await messagesIn(logs)).toEqual(upTo(21).slice(-(await messagesIn(logs)).length));
    expect(await messagesIn(logs)).not.toContain('1');
  });

  it('get IDs after all that were ever given, also after everything has expired', async () => {
    const logs = await open();
    await logs.append([numbered(1, 1)]);
    const [last = ''] = (await entriesIn(logs)).map(idOfEntry);
    clock.advance(minuteMs);
    for (const closed of await logs.listUnkept()) await logs.markKept(closed);
    clock.advance(10 * minuteMs);
    await logs.expire();
    expect(await messagesIn(logs)).toEqual([]);
    clock.advance(-hourMs);
    const next = await open();
    await next.append([numbered(2, 1)]);
    expect(await entriesIn(next, last)).toHaveLength(1);
  });
});
