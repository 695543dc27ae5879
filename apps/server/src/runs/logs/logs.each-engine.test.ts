import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { closeCodes, logPageSize, type LogEntry, type WireLogEntry } from '@phalanx/protocol';

import { countLogParts, storedLogText } from '../../testing/stored-logs.ts';
import { engines } from '../../testing/engines/test-database.ts';
import type { TestHost } from '../../testing/test-host.ts';
import { startBody, TestServer } from '../../testing/test-server.ts';

describe.each(engines)('log entries beside %s', (engine) => {
  let server: TestServer;
  let host: TestHost;
  let deviceId: string;

  beforeAll(async () => {
    server = await TestServer.start({ engine, sweepMs: 20 });
  });
  afterAll(() => server.dispose());
  beforeEach(async () => {
    ({ host, deviceId } = await server.connectHost());
  });
  afterEach(() => host.cut());

  const messagesOf = (logs: readonly LogEntry[]): string[] => logs.map((log) => log.message);
  const idsOf = (logs: readonly LogEntry[]): string[] => logs.map((log) => log.id);
  const numbered = (count: number, prefix = ''): string[] =>
    Array.from({ length: count }, (_, at) => `${prefix}${at}`);

  function expectStrictlyIncreasing(ids: readonly string[]): void {
    expect(ids).toEqual([...new Set(ids)].sort());
  }

  async function reopen(): Promise<void> {
    await server.restart();
    host.url = server.url;
    await host.connect();
  }

  describe('a log entry', () => {
    it('has the six fields of the specification, its run and its source file', async () => {
      const { runId, launchId } = await server.startRun(host, deviceId);
      const at = Date.now() - 1000;
      host.buffer(runId, [
        [at, 2, 17, 'text', 'lib/pay.ts'],
        [at, 0, 0, 'of a host of the last release'],
      ]);
      host.sendLogs(runId);
      await host.logsStored(runId);
      expect(await server.logs(deviceId, [launchId])).toEqual([
        {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          run_id: runId,
          automationId: launchId,
          message: 'text',
          path: 'lib/pay.ts',
          lineNumber: 17,
          messageLevel: 'error',
          timestamp: at,
        },
        expect.objectContaining({ message: 'of a host of the last release', path: null, lineNumber: 0 }),
      ]);
    });

    it('comes back equal, whatever its message holds', async () => {
      const odd = [
        '',
        'a\nb\r\nc\td',
        '"quoted" \\ and }],"id":"',
        '\ud800 lone \udc00',
        'NUL \0 and \u001b[31m and \u007f',
        '\u2028\u2029\ufeff',
        '😀'.repeat(1000),
        'x'.repeat(64 * 1024),
        '__proto__',
        '{"logs":[]}',
      ];
      const { runId, launchId } = await server.startRun(host, deviceId);
      await host.log(runId, odd);
      expect(messagesOf(await server.logs(deviceId, [launchId]))).toEqual(odd);
    });

    it('comes back equal for any message', async () => {
      const { runId, launchId } = await server.startRun(host, deviceId);
      let from: string | undefined;
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.string({ unit: 'binary', maxLength: 50 }), { minLength: 1, maxLength: 20 }),
          async (messages) => {
            await host.log(runId, messages);
            const logs = await server.logs(deviceId, [launchId], from);
            expect(messagesOf(logs)).toEqual(messages);
            from = logs.at(-1)?.id;
          },
        ),
        { numRuns: 15 },
      );
    });

    it('is stored beside that of a host whose numbers no database has', async () => {
      const { runId, launchId } = await server.startRun(host, deviceId);
      const { token, api } = await server.createCaller('liar');
      const liar = await server.connectHost({ token }, api);
      await api('POST', '/api/v2/devices/launchDirectAutomation', startBody(liar.deviceId));
      const run = liar.host.messages('launch')[0]?.runs[0]?.run_id ?? '';
      for (let count = 0; count < 5; count += 1) liar.host.sendLogFrame(run, 1e300, [[1, 0, 1, 'lie']]);
      await host.log(runId, ['true']);
      expect(messagesOf(await server.logs(deviceId, [launchId]))).toEqual(['true']);
      expect(host.isOpen).toBe(true);
      expect(await liar.host.ended()).toBe(closeCodes.protocolError);
    });

    it('never has a time in the future', async () => {
      const { runId, launchId } = await server.startRun(host, deviceId);
      host.buffer(runId, [
        [Date.now() + 3_600_000, 0, 1, 'ahead'],
        [8.64e15, 0, 1, 'far ahead'],
      ]);
      host.sendLogs(runId);
      await host.logsStored(runId);
      const logs = await server.logs(deviceId, [launchId]);
      expect(messagesOf(logs)).toEqual(['ahead', 'far ahead']);
      for (const log of logs) expect(log.timestamp).toBeLessThanOrEqual(server.clock.now());
    });
  });

  describe('reading with a cursor', () => {
    it('gives pages of at most 1,000, each after the one before, and then an empty one', async () => {
      const { runId, launchId } = await server.startRun(host, deviceId);
      const messages = numbered(2 * logPageSize + 1);
      await host.log(runId, messages);
      const pages: LogEntry[][] = [];
      for (let from: string | undefined; pages.at(-1)?.length !== 0; from = pages.at(-1)?.at(-1)?.id) {
        pages.push(await server.logs(deviceId, [launchId], from));
      }
      expect(pages.map((page) => page.length)).toEqual([1000, 1000, 1, 0]);
      expect(messagesOf(pages.flat())).toEqual(messages);
      expectStrictlyIncreasing(idsOf(pages.flat()));
    });

    it('takes a cursor in upper case too', async () => {
      const { runId, launchId } = await server.startRun(host, deviceId);
      await host.log(runId, ['a', 'b']);
      const [first] = await server.logs(deviceId, [launchId]);
      expect(messagesOf(await server.logs(deviceId, [launchId], first?.id.toUpperCase()))).toEqual(['b']);
    });

    it('merges several automations in order of storage, across pages', async () => {
      const runs = [
        await server.startRun(host, deviceId),
        await server.startRun(host, deviceId),
        await server.startRun(host, deviceId),
      ];
      for (let round = 0; round < 30; round += 1) {
        for (const [at, { runId }] of runs.entries())
          await host.log(runId, numbered(10 * (at + 1) + round, `${round} ${at} `));
      }
      const launchIds = runs.map((run) => run.launchId);
      const merged = await server.allLogs(deviceId, [...launchIds, ...launchIds, 'unknown']);
      expectStrictlyIncreasing(idsOf(merged));
      for (const { launchId } of runs) {
        const alone = await server.allLogs(deviceId, [launchId]);
        expect(merged.filter((log) => log.automationId === launchId)).toEqual(alone);
      }
      expect(merged).toHaveLength(30 * 60 + 3 * 435);
    });

    it('ends a page early when its messages are large, and loses nothing', async () => {
      const runs = [await server.startRun(host, deviceId), await server.startRun(host, deviceId)];
      const large = 'x'.repeat(64 * 1024 - 10);
      for (let at = 0; at < 4; at += 1) {
        for (const { runId } of runs) await host.log(runId, numbered(25, large));
      }
      const launchIds = runs.map((run) => run.launchId);
      const first = await server.logs(deviceId, launchIds);
      expect(first.length).toBeGreaterThan(0);
      expect(first.length).toBeLessThan(200);
      const all = await server.allLogs(deviceId, launchIds);
      expect(all).toHaveLength(200);
      expectStrictlyIncreasing(idsOf(all));
    });

    it('loses nothing of several automations whose messages have more bytes than characters', async () => {
      const runs = [await server.startRun(host, deviceId), await server.startRun(host, deviceId)];
      for (const { runId } of runs)
        for (let at = 0; at < 4; at += 1) await host.log(runId, numbered(25, '木'.repeat(20_000)));
      const all = await server.allLogs(
        deviceId,
        runs.map((run) => run.launchId),
      );
      expect(all).toHaveLength(200);
      expectStrictlyIncreasing(idsOf(all));
    });

    it('leaves no gap and repeats nothing while 50 devices log at once, and keeps each device’s order', async () => {
      const serials = numbered(50, 'many-');
      const many = await server.connectHost({ serials });
      const runs = await Promise.all(many.deviceIds.map((id) => server.startRun(many.host, id)));
      // All runs share the host's list of messages, so each run is found by its launch.
      const rounds = 12;
      const readers = runs.map(async ({ launchId }, at) => {
        const seen: LogEntry[] = [];
        while (seen.length < rounds * 7) {
          seen.push(...(await server.logs(many.deviceIds[at] ?? '', [launchId], seen.at(-1)?.id)));
        }
        return seen;
      });
      for (let round = 0; round < rounds; round += 1) {
        for (const { runId } of runs) {
          many.host.sendLogFrame(
            runId,
            round * 7 + 1,
            numbered(7, `${round}.`).map((text) => [Date.now(), 0, 1, text]),
          );
        }
        await many.host.heartbeat();
      }
      const expected = Array.from({ length: rounds }, (_, round) => numbered(7, `${round}.`)).flat();
      for (const seen of await Promise.all(readers)) {
        expect(messagesOf(seen)).toEqual(expected);
        expectStrictlyIncreasing(idsOf(seen));
      }
      await many.host.cut();
    });
  });

  describe('a host that is cut off and sends again', () => {
    const step = fc.record({
      entries: fc.integer({ min: 0, max: 30 }),
      batchSize: fc.integer({ min: 1, max: 12 }),
      /** Number of frames sent before the connection is cut. */
      frames: fc.integer({ min: 0, max: 6 }),
      waitForStorage: fc.boolean(),
      restart: fc.constantFrom(false, false, false, false, true),
    });

    it('has every entry stored exactly once and in order, wherever the cut comes', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), async (steps) => {
          const { runId, launchId } = await server.startRun(host, deviceId);
          let count = 0;
          for (const { entries, batchSize, frames, waitForStorage, restart } of steps) {
            host.buffer(
              runId,
              numbered(entries, `${count}-`).map((text) => [Date.now(), 0, 1, text]),
            );
            count += 1;
            host.sendLogs(runId, batchSize, frames);
            if (waitForStorage) await host.heartbeat();
            await host.cut();
            if (restart) await reopen();
            else await host.connect();
          }
          host.sendLogs(runId, 5);
          await host.logsStored(runId);
          const logs = await server.allLogs(deviceId, [launchId]);
          expect(messagesOf(logs)).toEqual(steps.flatMap(({ entries }, at) => numbered(entries, `${at}-`)));
          expectStrictlyIncreasing(idsOf(logs));
        }),
        { numRuns: 10 },
      );
      // The service restarts about six times.
    });

    it('may send batches that overlap what is stored in any way', async () => {
      const { runId, launchId } = await server.startRun(host, deviceId);
      const entries: WireLogEntry[] = numbered(20).map((text) => [Date.now(), 0, 1, text]);
      for (const [first, last] of [
        [1, 5],
        [1, 5],
        [3, 8],
        [2, 4],
        [8, 9],
        [1, 20],
        [20, 20],
        [5, 6],
      ] as const) {
        host.sendLogFrame(runId, first, entries.slice(first - 1, last));
        await host.heartbeat();
      }
      host.buffer(runId, entries);
      host.sendLogs(runId);
      await host.logsStored(runId);
      expect(messagesOf(await server.logs(deviceId, [launchId]))).toEqual(numbered(20));
    });
  });

  describe('entries of somebody else’s run', () => {
    it('are dropped and acknowledged, so that the host does not keep them', async () => {
      const { runId, launchId } = await server.startRun(host, deviceId);
      const other = await server.createCaller('other');
      const theirs = await server.connectHost({ token: other.token, hostId: host.hostId }, other.api);
      for (const intruder of [theirs.host, (await server.connectHost({ serials: ['serial-5'] })).host]) {
        await intruder.log(runId, ['forged']);
        await intruder.log(crypto.randomUUID(), ['of nobody']);
      }
      expect(await server.logs(deviceId, [launchId])).toEqual([]);
      await host.log(runId, ['true']);
      expect(messagesOf(await server.logs(deviceId, [launchId]))).toEqual(['true']);
    });
  });

  describe('the window of 10 minutes', () => {
    it('does not give entries that are older when they arrive, but the younger ones of the same batch', async () => {
      const { runId, launchId } = await server.startRun(host, deviceId);
      const now = server.clock.now();
      host.buffer(runId, [
        [now - 600_001, 0, 1, 'too old'],
        [now - 590_000, 0, 1, 'old'],
        [now, 0, 1, 'young'],
      ]);
      host.sendLogs(runId);
      await host.logsStored(runId);
      expect(messagesOf(await server.logs(deviceId, [launchId]))).toEqual(['old', 'young']);
    });

    it('ends an entry in the reply at once and on the disk soon, and its cursor still works', async () => {
      const { runId, launchId } = await server.startRun(host, deviceId);
      host.buffer(runId, [[server.clock.now(), 0, 1, 'secret-of-the-past']]);
      host.sendLogs(runId);
      await host.logsStored(runId);
      const [entry] = await server.logs(deviceId, [launchId]);
      server.clock.advance(300_000);
      await host.heartbeat();
      host.buffer(runId, [[server.clock.now(), 0, 1, 'later']]);
      host.sendLogs(runId);
      await host.logsStored(runId);
      expect(await storedLogText(server)).toContain('secret-of-the-past');
      server.clock.advance(300_000);
      expect(messagesOf(await server.logs(deviceId, [launchId]))).toEqual(['later']);
      expect(messagesOf(await server.logs(deviceId, [launchId], entry?.id))).toEqual(['later']);
      server.clock.advance(61_000);
      // Reading everything blocks the service, which runs in this process.
      await expect.poll(() => storedLogText(server), { interval: 500 }).not.toContain('secret-of-the-past');
      expect(await storedLogText(server)).toContain('later');
      expect(messagesOf(await server.logs(deviceId, [launchId], entry?.id))).toEqual(['later']);
    });
  });

  describe('the order of log IDs', () => {
    it.each([
      ['the clock steps back', async () => server.clock.advance(-240_000)],
      ['the service restarts', async () => reopen()],
      [
        'the service restarts and its clock is behind',
        async () => {
          server.clock.advance(-120_000);
          await reopen();
        },
      ],
      [
        'everything has expired and the service restarts with a clock that is behind',
        async () => {
          server.clock.advance(7_200_000);
          await expect.poll(() => countLogParts(server)).toBe(0);
          server.clock.advance(-3_600_000);
          await reopen();
        },
      ],
    ])('holds when %s: a cursor of before finds what comes after', async (_name, happen) => {
      const { runId, launchId } = await server.startRun(host, deviceId);
      await logNow(runId, 'before');
      const last = (await server.logs(deviceId, [launchId])).at(-1)?.id ?? 'none';
      await happen();
      await logNow(runId, 'after');
      const after = await server.logs(deviceId, [launchId], last);
      expect(messagesOf(after)).toEqual(['after']);
      expect((after[0]?.id ?? '') > last).toBe(true);
    });

    it('keeps nothing for longer because the clock was ahead for a while', async () => {
      const { runId, launchId } = await server.startRun(host, deviceId);
      server.clock.advance(10 * 3_600_000);
      await host.heartbeat();
      await logNow(runId, 'ahead');
      server.clock.advance(-10 * 3_600_000);
      await logNow(runId, 'right');
      server.clock.advance(700_000);
      await expect.poll(() => countLogParts(server)).toBe(1);
      expect(messagesOf(await server.logs(deviceId, [launchId]))).not.toContain('right');
    });

    async function logNow(runId: string, text: string): Promise<void> {
      host.buffer(runId, [[server.clock.now(), 0, 1, text]]);
      host.sendLogs(runId);
      await host.logsStored(runId);
    }
  });
});
