import { randomBytes } from 'node:crypto';

import type { LogEntry } from '@phalanx/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { countLogParts, hasClosedLogs, keptBytes, lastKeptId } from '../../../testing/stored-logs.ts';
import { engines } from '../../../testing/engines/test-database.ts';
import type { TestHost } from '../../../testing/test-host.ts';
import { TestServer } from '../../../testing/test-server.ts';
import { minuteMs, hourMs, dayMs } from '@phalanx/timing/durations';

describe.each(engines)('kept logs beside %s', (engine) => {
  let server: TestServer;
  let host: TestHost;
  let deviceId: string;

  beforeAll(async () => {
    server = await TestServer.start({
      engine,
      sweepMs: 20,
      settings: { PHALANX_RUN_LOG_MB: '1' },
    });
    ({ host, deviceId } = await server.connectHost());
  });
  afterAll(() => server.dispose());
  // Reconnects: the clock has advanced since the last test, so a busy server may have given up the host.
  beforeEach(async () => {
    await host.cut();
    await host.connect();
  });

  interface Page {
    logs: LogEntry[];
    next_cursor: string | null;
    truncated: boolean;
  }

  async function page(runId: string, query = ''): Promise<Page> {
    const { body, status, text } = await server.api('GET', `/api/v2/runs/${runId}/logs?${query}`);
    expect(status, text).toBe(200);
    return { ...body } as unknown as Page;
  }

  async function allOf(runId: string, query = ''): Promise<LogEntry[]> {
    const all: LogEntry[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const read: Page = await page(runId, `${query}${cursor === '' ? '' : `&from=${cursor}`}`);
      all.push(...read.logs);
      cursor = read.next_cursor;
    }
    return all;
  }

  const messagesOf = async (runId: string, query?: string): Promise<string[]> =>
    (await allOf(runId, query)).map(({ message }) => message);
  const lines = (from: number, count: number): string[] =>
    Array.from({ length: count }, (_, index) => `line ${from + index}`);

  const bytesKept = (runId: string): Promise<number> => keptBytes(server, runId);

  /**
   * Advances the clock by a minute, so that the table closes, and waits until all entries of the run are archived. The
   * size is no indicator: a shortened log may have its earlier size.
   */
  async function keep(runId: string): Promise<void> {
    const [last] = (await page(runId, 'last=1')).logs;
    server.clock.advance(minuteMs);
    await expect.poll(() => lastKeptId(server, runId)).toBe(last?.id);
    await expect.poll(() => hasClosedLogs(server)).toBe(false);
  }

  /** Advances the clock past the 10 minutes, and waits until the recent logs are empty. */
  async function expire(): Promise<void> {
    server.clock.advance(11 * minuteMs);
    await expect.poll(() => countLogParts(server)).toBe(0);
  }

  async function reopen(): Promise<void> {
    await server.restart();
    host.url = server.url;
    await host.connect();
  }

  describe('the log of a run', () => {
    it('is whole while it runs, and long after automationLogs has forgotten it', async () => {
      const { runId, launchId } = await server.startRun(host, deviceId);
      await host.log(runId, lines(1, 1500));
      expect(await messagesOf(runId)).toEqual(lines(1, 1500));
      await keep(runId);
      await host.log(runId, lines(1501, 10));
      expect((await page(runId, 'last=12')).logs.map(({ message }) => message)).toEqual(lines(1499, 12));
      expect(await messagesOf(runId)).toEqual(lines(1, 1510));
      const before = await allOf(runId);
      expect(before).toEqual(await server.allLogs(deviceId, [launchId]));
      await keep(runId);
      await expire();
      expect(await server.logs(deviceId, [launchId])).toEqual([]);
      expect(await allOf(runId)).toEqual(before);
      expect((await page(runId, 'last=1000')).logs).toEqual(before.slice(-1000));
      await reopen();
      await host.log(runId, lines(1511, 5));
      expect(await messagesOf(runId)).toEqual(lines(1, 1515));
    });

    it('is that of the run alone, also of a project that ran twice on the device in one minute', async () => {
      const { body } = await server.api('POST', '/api/v2/automation-project', { body: { name: 'Twice' } });
      const { id: automationId } = body['project'] as { id: string };
      await server.api('PUT', `/api/v2/automation/file/${automationId}`, {
        body: { path: 'main.js', content: '1' },
      });
      const runIds: string[] = [];
      for (const run of ['first', 'second']) {
        const launched = await server.api('POST', '/api/v2/devices/launchAutomation', {
          body: { device_ids: [deviceId], automationId, command: 'start' },
        });
        const [row] = launched.body['devices'] as { run_id: string }[];
        runIds.push(row?.run_id ?? '');
        await host.log(row?.run_id ?? '', [`${run} 1`, `${run} 2`]);
        await host.end(row?.run_id ?? '', 'completed');
      }
      const [first = '', second = ''] = runIds;
      for (const step of [async () => {}, () => keep(second), expire]) {
        await step();
        expect(await messagesOf(first)).toEqual(['first 1', 'first 2']);
        expect(await messagesOf(second)).toEqual(['second 1', 'second 2']);
      }
    });

    it('is read in pages, by level and by text, kept or not', async () => {
      const { runId } = await server.startRun(host, deviceId);
      const log = async (first: number): Promise<void> => {
        const at = server.clock.now();
        host.buffer(
          runId,
          lines(first, 300).map((text, index) => [at, index % 3, index, text, 'main.ts'] as const),
        );
        host.sendLogs(runId);
        await host.logsStored(runId);
      };
      await log(1);
      await keep(runId);
      await log(301);
      const first = await page(runId, 'limit=250');
      expect(first.logs.map(({ message }) => message)).toEqual(lines(1, 250));
      expect(first.next_cursor).toBe(first.logs.at(-1)?.id);
      expect(await messagesOf(runId, 'limit=7')).toEqual(lines(1, 600));
      const errors = await allOf(runId, 'levels=error&limit=9');
      expect(errors).toHaveLength(200);
      expect(errors.every(({ messageLevel }) => messageLevel === 'error')).toBe(true);
      expect(await messagesOf(runId, 'search=LINE%2059')).toEqual(['line 59', ...lines(590, 10)]);
      expect(await messagesOf(runId, 'levels=log,warn&search=line%2059')).toHaveLength(8);
      expect(await page(runId, 'search=nowhere')).toMatchObject({ logs: [], next_cursor: null });
      const last = (await allOf(runId)).at(-1)?.id ?? '';
      expect(await page(runId, `from=${last}`)).toEqual({
        success: true,
        logs: [],
        next_cursor: null,
        truncated: false,
      });
      for (const query of ['from=x', 'levels=loud', 'limit=0', 'limit=1001', `from=${crypto.randomUUID()}`]) {
        const { body } = await server.api('GET', `/api/v2/runs/${runId}/logs?${query}`);
        expect(body, query).toMatchObject({ code: 'invalid_request' });
      }
    });

    it('has what a host could only deliver when it was older than 10 minutes', async () => {
      const { runId, launchId } = await server.startRun(host, deviceId);
      const at = server.clock.now() - 3 * hourMs;
      host.buffer(runId, [
        [at, 0, 1, 'late'],
        [server.clock.now(), 0, 1, 'young'],
      ]);
      host.sendLogs(runId);
      await host.logsStored(runId);
      expect((await server.logs(deviceId, [launchId])).map(({ message }) => message)).toEqual(['young']);
      expect(await messagesOf(runId)).toEqual(['late', 'young']);
      await keep(runId);
      expect(await allOf(runId)).toMatchObject([{ message: 'late', timestamp: at }, { message: 'young' }]);
    });

    it('has each line once, however late and often a host repeats it', async () => {
      const { runId } = await server.startRun(host, deviceId);
      const entries = lines(1, 20).map((text) => [server.clock.now(), 0, 1, text]);
      await host.log(runId, lines(1, 20));
      await keep(runId);
      await expire();
      for (const step of [async () => {}, reopen]) {
        await step();
        host.sendLogFrame(runId, 1, entries);
        host.sendLogFrame(runId, 15, [...entries.slice(14), [server.clock.now(), 0, 1, 'line 21']]);
        await host.heartbeat();
        await expect.poll(async () => (await messagesOf(runId)).length).toBeGreaterThan(20);
        expect(await messagesOf(runId)).toEqual(lines(1, 21));
      }
    });

    it('keeps the beginning and the end of one that is too long, and says how many are missing', async () => {
      const { runId } = await server.startRun(host, deviceId);
      const noise = (): string => randomBytes(20_000).toString('base64');
      let count = 0;
      for (let minute = 0; minute < 6; minute += 1) {
        const messages = Array.from({ length: 20 }, () => `${(count += 1)} ${noise()}`);
        await host.log(runId, messages);
        await keep(runId);
      }
      await expire();
      expect(await bytesKept(runId)).toBeLessThanOrEqual(1024 * 1024);
      const all = await allOf(runId);
      const { truncated } = await page(runId, 'limit=1');
      const gap = all.findIndex(({ messageLevel }) => messageLevel === 'warn');
      const missing = Number(all[gap]?.message.split(' ')[0]);
      const numbers = all.toSpliced(gap, 1).map(({ message }) => Number(message.split(' ')[0]));
      expect(truncated).toBe(true);
      expect(all[gap]).toMatchObject({ run_id: runId, path: null, lineNumber: 0 });
      expect(numbers.slice(0, gap)).toEqual(Array.from({ length: gap }, (_, index) => index + 1));
      expect(numbers.at(-1)).toBe(count);
      expect(numbers.length + missing).toBe(count);
      expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).toSorted());
      expect(await allOf(runId, 'limit=3')).toEqual(all);
    });

    it('goes with its run, and is for those who may see the run', async () => {
      const { runId } = await server.startRun(host, deviceId);
      await host.log(runId, ['secret']);
      await keep(runId);
      await host.end(runId, 'completed');
      const stranger = await server.createCaller('stranger');
      const refused = await stranger.api('GET', `/api/v2/runs/${runId}/logs`);
      expect(refused.body).toMatchObject({ code: 'run_not_found' });
      server.clock.advance(31 * dayMs);
      await server.restart();
      await expect.poll(() => bytesKept(runId)).toBe(0);
      expect((await server.api('GET', `/api/v2/runs/${runId}/logs`)).status).toBe(404);
    });
  });
});
