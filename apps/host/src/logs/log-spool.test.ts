import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { hostProtocolVersion } from '@phalanx/protocol';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { Hello } from '../connection/pages.ts';
import { ServerConnection } from '../connection/server-connection.ts';
import { createServiceClock } from '../connection/service-clock.ts';
import { type HostStore, openHostStore } from '../store/host-store.ts';
import { startTestService, type TestService } from '../testing/test-service.ts';
import type { LogLimits } from './log-limits.ts';
import { LogSpool } from './log-spool.ts';
import { LogTable } from './log-table.ts';

let service: TestService;
let dir: string;
let store: HostStore;
let close: (() => Promise<void>)[] = [];

beforeEach(async () => {
  service = await startTestService();
  dir = await mkdtemp(join(tmpdir(), 'phalanx-spool-'));
  store = await openHostStore({ dir, log: pino({ level: 'silent' }) });
});

afterEach(async () => {
  for (const end of close) await end();
  close = [];
  await service.close();
  await store.close();
  await rm(dir, { recursive: true });
  expect(service.violations).toEqual([]);
});

/** Opens a spool of `store` with its own connection, as every start of a host does. */
function openSpool(limits: Partial<LogLimits> = {}) {
  const lines: { level: number; msg: string }[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const clock = createServiceClock();
  const connection = new ServerConnection({
    serverUrl: new URL(service.url),
    token: service.token,
    clock,
    log,
  });
  const spool = new LogSpool({ store, connection, clock, log, limits });
  const hello = (): Hello => ({
    type: 'hello',
    protocol_version: hostProtocolVersion,
    host_id: randomUUID(),
    host_name: 'test',
    devices: [],
    runs: [],
  });
  const end = async (): Promise<void> => {
    await connection.close();
    await spool.close();
  };
  close.push(end);
  const start = (): void =>
    connection.start({
      hello,
      listReady: () => [],
      onCommand: (command) => {
        if (command.type === 'logs_stored') spool.acknowledge(command.run_id, command.seq);
      },
    });
  return { spool, connection, lines, start, end };
}

async function openOnline(limits: Partial<LogLimits> = {}) {
  const opened = openSpool(limits);
  await opened.spool.recover(() => true);
  opened.start();
  await service.until(() => opened.connection.online);
  return opened;
}

async function goAway(connection: ServerConnection): Promise<void> {
  const offline = new Promise<void>((resolve) => connection.onOffline(resolve));
  await service.goAway();
  await offline;
}

const entry = (message: string) =>
  ({ timestamp: Date.now(), level: 'log', path: null, lineNumber: 1, message }) as const;
const numbered = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => entry(`line ${from + index}`));
/** Writes chunks of five entries each, like an earlier host. */
async function writeChunks(runId: string, first: number, last: number): Promise<void> {
  for (let chunk = first; chunk <= last; chunk += 1) {
    const seq = (chunk - 1) * 5 + 1;
    const entries = numbered(seq, 5).map(({ timestamp, message }) =>
      JSON.stringify([timestamp, 0, 1, message]),
    );
    await new LogTable(store.thread).write([{ runId, firstSeq: seq, entries, storedSeq: 0 }]);
  }
}
/** Returns the numbers of the first entries of all chunks on disk. */
const chunks = (): Promise<number[]> =>
  store.thread
    .run<{ first_seq: number }>({ text: 'SELECT first_seq FROM log_chunk ORDER BY first_seq' })
    .then((rows) => rows.map(({ first_seq }) => first_seq));
const limitDisk = (pages: number) => store.thread.run({ text: `PRAGMA max_page_count = ${pages}` });

const expected = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`);
const frames = () => service.arrivals.filter((arrival) => arrival.kind === 'logs');
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('the log on its way to the server', () => {
  it('delivers entries with level, line and time', async () => {
    // An offset of one hour can't be caused by a slow machine.
    service.clockOffsetMs = 3_600_000;
    const { spool } = await openOnline();
    const runId = randomUUID();
    const log = spool.open(runId);
    const timestamp = Date.now() - 5;
    const message = 'tea & \u{1F375} \ud800';
    void log.push([{ timestamp, level: 'warn', path: 'lib/tea.ts', lineNumber: 7, message }]);
    await log.whenStored();
    const [stored] = service.logs.get(runId) ?? [];
    expect(stored?.slice(1)).toEqual([1, 7, message, 'lib/tea.ts']);
    const [time = 0] = stored ?? [];
    expect(Math.abs(time - timestamp - service.clockOffsetMs)).toBeLessThan(600_000);
  });

  it('sends the entries of one turn of the event loop in one frame', async () => {
    const { spool } = await openOnline();
    const log = spool.open(randomUUID());
    for (const one of numbered(1, 50)) void log.push([one]);
    await log.whenStored();
    expect(frames()).toHaveLength(1);
  });

  it('believes no time of a run that is far from its own', async () => {
    const { spool } = await openOnline();
    const runId = randomUUID();
    const log = spool.open(runId);
    void log.push([
      { ...entry('future'), timestamp: 9e15 },
      { ...entry('past'), timestamp: -1 },
    ]);
    await log.whenStored();
    for (const [time] of service.logs.get(runId) ?? [])
      expect(Math.abs(time - Date.now())).toBeLessThan(10_000);
  });

  it('stores every entry exactly once, in order, though the connection is cut many times in mid flow', async () => {
    const { spool } = await openOnline();
    const runIds = [randomUUID(), randomUUID(), randomUUID()];
    for (let cut = 0; cut < 8; cut += 1) {
      const before = frames().length;
      for (let from = cut * 500 + 1; from <= cut * 500 + 500; from += 20) {
        for (const runId of runIds)
          void spool.open(runId).push(numbered(from, 20).slice(0, cut * 500 + 501 - from));
        await turn();
      }
      await service.until(() => frames().length > before + 2);
      service.cut();
    }
    for (const runId of runIds) {
      await spool.open(runId).whenStored();
      expect(service.messages(runId)).toEqual(expected(4000));
    }
    expect(service.connections).toBeGreaterThanOrEqual(8);
  });

  it('sends again what was sent but not stored, from the stored position on', async () => {
    const { spool } = await openOnline();
    const runId = randomUUID();
    const log = spool.open(runId);
    void log.push(numbered(1, 10));
    await log.whenStored();
    service.acknowledgesLogs = false;
    void log.push(numbered(11, 10));
    await service.until(() => service.messages(runId).length === 20);
    service.acknowledgesLogs = true;
    service.cut();
    await log.whenStored();
    expect(service.messages(runId)).toEqual(expected(20));
    expect(frames().map(({ firstSeq }) => firstSeq)).toEqual([1, 11, 11]);
  });

  it('puts one warning with the right count in the place of what a full buffer dropped', async () => {
    const { spool, connection } = await openOnline({ runBytes: 1024 * 1024 });
    const runId = randomUUID();
    const log = spool.open(runId);
    await goAway(connection);
    const padding = 'x'.repeat(1000);
    for (let index = 0; index < 3000; index += 1) void log.push([entry(`${index} ${padding}`)]);
    void log.push([entry('short')]);
    await service.listen();
    await log.whenStored();
    void log.push([entry('after')]);
    await log.whenStored();
    const entries = service.logs.get(runId) ?? [];
    const kept = entries.length - 2;
    expect(kept).toBeGreaterThan(900);
    expect(entries.slice(0, kept).map(([, , , message]) => message)).toEqual(
      Array.from({ length: kept }, (_, index) => `${index} ${padding}`),
    );
    const warning = `${3001 - kept} log entries were dropped here: the service could not be reached and the buffer of 1 MiB was full`;
    expect(entries[kept]?.slice(1)).toEqual([1, 0, warning]);
    expect(entries.at(-1)?.[3]).toBe('after');
  });

  it('tells of dropped entries also when the run has ended before the service is back', async () => {
    const { spool, connection } = await openOnline({ totalBytes: 1024 * 1024 });
    const runId = randomUUID();
    const log = spool.open(runId);
    await goAway(connection);
    // A message is truncated at 64 KiB: the buffer holds fifteen of them with their overhead.
    void log.push(Array.from({ length: 16 }, () => entry('y'.repeat(1024 * 1024))));
    log.finish();
    await service.listen();
    await log.whenStored();
    expect(service.messages(runId).at(-1)).toMatch(
      /^1 log entry was dropped here: .* buffer of 1 MiB was full$/,
    );
    expect(service.messages(runId)).toHaveLength(16);
    expect(service.messages(runId)[0]).toHaveLength(64 * 1024);
  });

  it('holds a run back while the service stores slowly, and drops nothing', async () => {
    const { spool } = await openOnline({ pressureBytes: 10_000, pressureMs: 1_000_000 });
    service.acknowledgesLogs = false;
    const runId = randomUUID();
    const log = spool.open(runId);
    let goesOn = false;
    const pressure = log.push(numbered(1, 1000));
    expect(pressure).toBeInstanceOf(Promise);
    const released = pressure?.then(() => {
      goesOn = true;
    });
    await service.until(() => service.messages(runId).length === 1000);
    expect(goesOn).toBe(false);
    service.acknowledgeAll();
    await released;
    expect(log.push([entry('line 1001')])).toBeUndefined();
    await service.until(() => service.messages(runId).length === 1001);
    expect(service.messages(runId)).toEqual(expected(1001));
  });

  it('lets a run that is held back go on when the service goes away', async () => {
    const { spool } = await openOnline({ pressureBytes: 10_000, pressureMs: 1_000_000 });
    service.acknowledgesLogs = false;
    const log = spool.open(randomUUID());
    const pressure = log.push(numbered(1, 1000));
    await service.goAway();
    await pressure;
    expect(log.push(numbered(1001, 1000))).toBeUndefined();
    service.acknowledgesLogs = true;
    await service.listen();
    await log.whenStored();
    expect(service.messages(log.runId)).toEqual(expected(2000));
  });

  it('holds a run back only for a while when the service stores nothing at all', async () => {
    const { spool } = await openOnline({ pressureBytes: 1000, pressureMs: 10 });
    service.acknowledgesLogs = false;
    const log = spool.open(randomUUID());
    await log.push(numbered(1, 100));
    await log.push(numbered(101, 100));
    service.acknowledgesLogs = true;
    service.cut();
    await log.whenStored();
    expect(service.messages(log.runId)).toEqual(expected(200));
  });

  it('does not hold back a run that is to end', async () => {
    const { spool } = await openOnline({ pressureBytes: 1000, pressureMs: 1_000_000 });
    service.acknowledgesLogs = false;
    const log = spool.open(randomUUID());
    const pressure = log.push(numbered(1, 100));
    expect(pressure).toBeInstanceOf(Promise);
    log.letGo();
    await pressure;
    expect(log.push(numbered(101, 100))).toBeUndefined();
  });

  it('gives a quiet run the next turn after a run with very much to send', async () => {
    const { spool } = await openOnline({ framesPerRun: 1000, framesInTotal: 2 });
    service.acknowledgesLogs = false;
    const loud = spool.open(randomUUID());
    void loud.push(numbered(1, 50_000));
    await service.until(() => frames().length === 2);
    const quiet = spool.open(randomUUID());
    void quiet.push([entry('one line')]);
    service.acknowledgesLogs = true;
    service.acknowledgeAll();
    await quiet.whenStored();
    // Two frames of the loud run were in flight, and it may have had one more turn.
    expect(frames().findIndex(({ runId }) => runId === quiet.runId)).toBeLessThanOrEqual(3);
    await loud.whenStored();
    expect(service.messages(loud.runId)).toEqual(expected(50_000));
  });

  it('does not let a run whose entries are stored slowly hold up another one', async () => {
    const { spool } = await openOnline({ framesPerRun: 2 });
    service.acknowledgesLogs = false;
    const loud = spool.open(randomUUID());
    void loud.push(numbered(1, 50_000));
    await service.until(() => frames().length === 2);
    const quiet = spool.open(randomUUID());
    void quiet.push([entry('one line')]);
    await service.until(() => service.messages(quiet.runId).length === 1);
    expect(frames().map(({ runId }) => runId)).toEqual([loud.runId, loud.runId, quiet.runId]);
  });

  it('leaves no stored entry on the disk while its run goes on', async () => {
    const { spool } = await openOnline();
    const log = spool.open(randomUUID());
    for (const part of [1, 11, 21]) {
      void log.push(numbered(part, 10));
      await log.whenStored();
      await expect.poll(chunks).toEqual([]);
    }
    service.acknowledgesLogs = false;
    void log.push(numbered(31, 10));
    await expect.poll(chunks).toEqual([31]);
    await service.until(() => service.messages(log.runId).length === 40);
    expect(service.messages(log.runId)).toEqual(expected(40));
  });

  it('takes up what a killed host has left', async () => {
    const runId = randomUUID();
    const first = openSpool();
    await first.spool.recover(() => true);
    void first.spool.open(runId).push(numbered(1, 500));
    await first.end();
    const { spool } = await openOnline();
    await spool.open(runId).whenStored();
    expect(service.messages(runId)).toEqual(expected(500));
  });

  it.each([
    ['is of another form', "UPDATE log_chunk SET entries = '[1,0,1' WHERE first_seq = 101"],
    ['holds something else', 'UPDATE log_chunk SET entries = \'["far"]\' WHERE first_seq = 101'],
    ['is missing', 'DELETE FROM log_chunk WHERE first_seq = 101'],
    ['is there twice', 'UPDATE log_chunk SET first_seq = 103 WHERE first_seq = 106'],
  ])('never leaves a gap when a chunk %s', async (_, damage) => {
    const runId = randomUUID();
    await writeChunks(runId, 1, 50);
    await store.thread.run({ text: damage });
    const { spool } = await openOnline();
    await spool.open(runId).whenStored();
    const { length } = service.messages(runId);
    expect(length).toBeGreaterThanOrEqual(100);
    expect(length).toBeLessThan(250);
    expect(service.messages(runId)).toEqual(expected(length));
  });

  it('goes on from the stored position after a restart', async () => {
    const runId = randomUUID();
    const first = await openOnline();
    const log = first.spool.open(runId);
    void log.push(numbered(1, 300));
    await log.whenStored();
    service.acknowledgesLogs = false;
    void log.push(numbered(301, 300));
    await service.until(() => service.messages(runId).length === 600);
    await first.end();
    service.acknowledgesLogs = true;
    const { spool } = await openOnline();
    await spool.open(runId).whenStored();
    expect(service.messages(runId)).toEqual(expected(600));
  });

  it('copes with a service that has stored more than a killed host has kept', async () => {
    const runId = randomUUID();
    const first = await openOnline();
    void first.spool.open(runId).push(numbered(1, 100));
    await first.spool.open(runId).whenStored();
    await first.end();
    const entries = [JSON.stringify([Date.now(), 0, 1, 'line 1'])];
    await new LogTable(store.thread).write([{ runId, firstSeq: 1, entries, storedSeq: 0 }]);
    const { spool } = await openOnline();
    await spool.open(runId).whenStored();
    void spool.open(runId).push([entry('line 101')]);
    await spool.open(runId).whenStored();
    expect(service.messages(runId)).toEqual(expected(101));
  });

  it('deletes the logs of runs that nobody knows, and of a run that is removed', async () => {
    const first = openSpool();
    await first.spool.recover(() => true);
    void first.spool.open(randomUUID()).push(numbered(1, 3));
    await first.end();
    expect(await chunks()).toEqual([1]);
    const { spool } = openSpool();
    await spool.recover(() => false);
    expect(await chunks()).toEqual([]);
    const log = spool.open(randomUUID());
    void log.push(numbered(1, 3));
    await expect.poll(chunks).toEqual([1]);
    await spool.remove(log.runId);
    expect(await chunks()).toEqual([]);
  });

  it('goes on from memory while the disk is full, says it once, and writes all when it has room again', async () => {
    const { spool, lines } = await openOnline({ diskRetryMs: 10 });
    await limitDisk(1);
    const runId = randomUUID();
    const log = spool.open(runId);
    for (let from = 1; from <= 300; from += 100) {
      void log.push(numbered(from, 100));
      await log.whenStored();
    }
    service.acknowledgesLogs = false;
    const padded = numbered(301, 100).map(({ message, ...rest }) => ({
      ...rest,
      message: message.padEnd(1000),
    }));
    void log.push(padded);
    await service.until(() => service.messages(runId).length === 400);
    await expect
      .poll(() => lines.filter(({ level }) => level === 50).map(({ msg }) => msg))
      .toEqual(['Logs can not be written to disk; they are kept in memory only. Is the disk full?']);
    expect(await chunks()).not.toContain(301);
    await limitDisk(1_000_000);
    await expect.poll(chunks).toEqual([301]);
    service.acknowledgeAll();
    await log.whenStored();
    await expect.poll(chunks).toEqual([]);
  });
});
