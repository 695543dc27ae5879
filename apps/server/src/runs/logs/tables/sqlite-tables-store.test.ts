import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { WireLogEntry } from '@phalanx/protocol';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { createAccessStore } from '../../../http/access/store.ts';
import type { Db } from '../../../storage/db/database.ts';
import { addRun } from '../../../testing/fleet-rows.ts';
import { openTestDatabase } from '../../../testing/engines/test-database.ts';
import { TestClock } from '../../../testing/test-clock.ts';
import { TestLog } from '../../../testing/test-log.ts';
import { entrySeparator, type IncomingEntries, messageOfEntry } from '../log-batch.ts';
import { createProgressStore } from './progress-store.ts';
import { RecentLogs } from './recent-logs.ts';
import { SqliteTables } from './sqlite-tables-store.ts';
import { minuteMs } from '@phalanx/timing/durations';

const stream = { deviceId: 'phone', automationId: 'automation', userId: 'u', isDirect: false };

let db: Db;
let folder: string;
let clock: TestClock;
let runId: string;
const opened: RecentLogs[] = [];

beforeAll(async () => {
  db = await openTestDatabase('SQLite');
  await createAccessStore(db).insertUser({ id: 'u', name: 'u', role: 'user', created_at: 0 });
});
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'phalanx-logs-'));
  clock = new TestClock();
  runId = crypto.randomUUID();
  await addRun(db, runId);
});
afterEach(() => {
  for (const logs of opened.splice(0)) logs.close();
  rmSync(folder, { recursive: true });
});

async function open(name: string): Promise<RecentLogs> {
  const tables = new SqliteTables({
    folder: path.join(folder, name),
    clock,
    log: new TestLog().logger,
    progress: createProgressStore(db),
  });
  const logs = await RecentLogs.open({ tables, clock });
  opened.push(logs);
  return logs;
}

/** Opens a copy of the files that a killed process leaves behind. */
async function afterKill(name: string): Promise<RecentLogs> {
  const next = `${name}-next`;
  cpSync(path.join(folder, name), path.join(folder, next), { recursive: true });
  return open(next);
}

function numbered(firstSeq: number, count: number): IncomingEntries[] {
  const entries = Array.from({ length: count }, (_, at): WireLogEntry => [
    clock.now(),
    0,
    1,
    `${firstSeq + at}`,
  ]);
  return [{ stream: { ...stream, runId }, firstSeq, entries, epoch: 1 }];
}

const upTo = (count: number): string[] => Array.from({ length: count }, (_, at) => `${at + 1}`);

async function messagesIn(logs: RecentLogs): Promise<string[]> {
  const messages: string[] = [];
  for await (const batches of logs.read(stream, ''))
    for (const { entries } of batches)
      messages.push(...entries.toString().split(entrySeparator).map(messageOfEntry));
  return messages;
}

it('has all that was acknowledged when the process is killed, whenever that is', async () => {
  const logs = await open('logs');
  for (let round = 0; round < 5; round += 1) {
    await logs.append(numbered(round * 10 + 1, 10));
    const next = await afterKill('logs');
    await next.append(numbered(1, round * 10 + 15));
    expect(await messagesIn(next)).toEqual(upTo(round * 10 + 15));
    next.close();
    rmSync(path.join(folder, 'logs-next'), { recursive: true });
    if (round === 2) clock.advance(minuteMs);
  }
});

it('knows what a host repeats when the entries have expired and the process is another one', async () => {
  const logs = await open('logs');
  await logs.append(numbered(1, 10));
  clock.advance(minuteMs);
  for (const table of await logs.listUnkept()) await logs.markKept(table);
  clock.advance(11 * minuteMs);
  await logs.expire();
  expect(readdirSync(path.join(folder, 'logs')).filter((name) => name.endsWith('.db'))).toEqual([]);
  const next = await afterKill('logs');
  await next.append(numbered(5, 10));
  expect(await messagesIn(next)).toEqual(['11', '12', '13', '14']);
});

it('stores nothing of a run that is gone', async () => {
  const logs = await open('logs');
  await db.deleteFrom('launch').execute();
  expect(await logs.append(numbered(1, 1))).toMatchObject({ batches: [] });
  expect(await messagesIn(logs)).toEqual([]);
});

it('loses a minute, and starts, when a loss of power has damaged a file', async () => {
  const logs = await open('logs');
  await logs.append(numbered(1, 1));
  const damaged = readdirSync(path.join(folder, 'logs')).find((name) => name.endsWith('.db')) ?? '';
  clock.advance(minuteMs);
  await logs.append(numbered(2, 1));
  logs.close();
  for (const end of ['-wal', '-shm']) rmSync(path.join(folder, 'logs', damaged + end), { force: true });
  writeFileSync(path.join(folder, 'logs', damaged), 'Dear diary, '.repeat(1000));
  const next = await open('logs');
  await next.append(numbered(2, 2));
  expect(await messagesIn(next)).toEqual(['2', '3']);
});

it('reads on where a step of 256 KB ends, in one file and in the next', async () => {
  const logs = await open('logs');
  const text = 'x'.repeat(60_000);
  for (let seq = 1; seq <= 30; seq += 1) {
    if (seq === 15) clock.advance(minuteMs);
    const entries: WireLogEntry[] = [[clock.now(), 0, 1, `${seq} ${text}`]];
    await logs.append([{ stream: { ...stream, runId }, firstSeq: seq, entries, epoch: 1 }]);
  }
  expect((await messagesIn(logs)).map((message) => message.split(' ')[0])).toEqual(upTo(30));
});
