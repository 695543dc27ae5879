import { type RunStep, type WireLogEntry, type WireStep, wireStepLevel } from '@phalanx/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { countLogParts, keptBytes } from '../../testing/stored-logs.ts';
import { engines } from '../../testing/engines/test-database.ts';
import type { TestHost } from '../../testing/test-host.ts';
import { TestServer } from '../../testing/test-server.ts';

const uuid = '01a1ff1e-4506-70f5-9c2b-2ba8fcf6bd5a';

const step = (no: number, more: Partial<WireStep> = {}): WireStep => ({
  step: no,
  name: 'tap',
  outcome: 'ok',
  duration_ms: 5,
  after: uuid,
  ...more,
});

describe.each(engines)('the trace of a run beside %s', (engine) => {
  let server: TestServer;
  let host: TestHost;
  let deviceId: string;

  beforeAll(async () => {
    server = await TestServer.start({ engine, sweepMs: 20 });
    ({ host, deviceId } = await server.connectHost());
  });
  afterAll(() => server.dispose());
  beforeEach(async () => {
    await host.cut();
    await host.connect();
  });

  const entryOf = (told: unknown, path?: string): WireLogEntry => {
    const entry: WireLogEntry = [server.clock.now(), wireStepLevel, 3, JSON.stringify(told)];
    return path === undefined ? entry : [...entry, path];
  };
  const line = (text: string): WireLogEntry => [server.clock.now(), 0, 1, text];

  async function send(runId: string, entries: readonly WireLogEntry[], batchSize?: number): Promise<void> {
    host.buffer(runId, entries);
    host.sendLogs(runId, batchSize);
    await host.logsStored(runId);
  }

  async function traceOf(runId: string, limit = 1000): Promise<RunStep[]> {
    const steps: RunStep[] = [];
    for (let from: string | null = ''; from !== null;) {
      const cursor: string = from === '' ? '' : `&from=${from}`;
      const { body, status } = await server.api('GET', `/api/v2/runs/${runId}/trace?limit=${limit}${cursor}`);
      expect(status).toBe(200);
      const page = body as unknown as { steps: RunStep[]; next_cursor: string | null };
      steps.push(...page.steps);
      from = page.next_cursor;
    }
    return steps;
  }

  const numbersOf = async (runId: string, limit?: number): Promise<number[]> =>
    (await traceOf(runId, limit)).map((one) => one.step);

  async function messagesOf(runId: string): Promise<string[]> {
    const { body } = await server.api('GET', `/api/v2/runs/${runId}/logs`);
    return (body as unknown as { logs: { message: string }[] }).logs.map(({ message }) => message);
  }

  it('has the steps that came among the lines of the log, which keeps its own', async () => {
    const { runId, launchId } = await server.startRun(host, deviceId);
    const failed = step(2, {
      outcome: 'wait_timeout',
      message: 'Waited',
      nearest: ['Zug'],
      target: '"Zürich"',
    });
    await send(runId, [line('one'), entryOf(step(1), 'a.ts'), line('two'), entryOf(failed)]);
    const [first, second] = await traceOf(runId);
    expect(first).toMatchObject({ run_id: runId, step: 1, path: 'a.ts', line_number: 3, after: uuid });
    expect(second).toMatchObject({ ...failed, path: null });
    expect(await messagesOf(runId)).toEqual(['one', 'two']);
    expect((await server.logs(deviceId, [launchId])).map(({ message }) => message)).toEqual(['one', 'two']);
  });

  it('has each step once, whatever its host sends again, in pages of any size', async () => {
    const { runId } = await server.startRun(host, deviceId);
    const entries = Array.from({ length: 30 }, (_, index) =>
      index % 3 === 2 ? line(`${index}`) : entryOf(step(index + 1)),
    );
    host.sendLogFrame(runId, 1, entries.slice(0, 20));
    host.sendLogFrame(runId, 11, entries.slice(10, 25));
    await host.heartbeat();
    await send(runId, entries, 7);
    const expected = entries.flatMap((_, index) => (index % 3 === 2 ? [] : [index + 1]));
    for (const limit of [1, 4, 1000]) expect(await numbersOf(runId, limit)).toEqual(expected);
  });

  it('stays with its run after the minutes of recent logs, beside the log', async () => {
    const { runId } = await server.startRun(host, deviceId);
    await send(runId, [line('kept'), entryOf(step(1))]);
    server.clock.advance(60_000);
    await expect.poll(() => keptBytes(server, runId)).toBeGreaterThan(0);
    await send(runId, [entryOf(step(2)), line('later')]);
    server.clock.advance(660_000);
    await expect.poll(() => countLogParts(server)).toBe(0);
    expect(await numbersOf(runId)).toEqual([1, 2]);
    expect(await messagesOf(runId)).toEqual(['kept', 'later']);
  });

  it('leaves out what is no step, and what a host has added to one', async () => {
    const { runId } = await server.startRun(host, deviceId);
    const bad = [
      { step: 1 },
      'text',
      { ...step(1), target: 'x'.repeat(10_000) },
      { ...step(1), before: '"' },
    ];
    await send(runId, [
      ...bad.map((one) => entryOf(one)),
      entryOf({ ...step(2), id: 'forged', admin: true }),
    ]);
    const [only, ...others] = await traceOf(runId);
    expect(others).toEqual([]);
    expect(only).toMatchObject({ step: 2 });
    expect(only?.id).not.toBe('forged');
    expect(only).not.toHaveProperty('admin');
  });

  it('is for those who may read the run’s log', async () => {
    const { runId } = await server.startRun(host, deviceId);
    const other = await server.createCaller('other');
    const { status, body } = await other.api('GET', `/api/v2/runs/${runId}/trace`);
    expect([status, body['code']]).toEqual([404, 'run_not_found']);
  });
});
