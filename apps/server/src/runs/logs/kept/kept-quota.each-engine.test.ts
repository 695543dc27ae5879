import { randomBytes } from 'node:crypto';
import type { UsageRow } from '@phalanx/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ApiCaller } from '../../../testing/api-caller.ts';
import { engines } from '../../../testing/engines/test-database.ts';
import type { TestHost } from '../../../testing/test-host.ts';
import { startBody, TestServer } from '../../../testing/test-server.ts';
import { minuteMs } from '@phalanx/timing/durations';

describe.each(engines)('what a user keeps of logs beside %s', (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({
      engine,
      sweepMs: 20,
      settings: { PHALANX_MAX_KEPT_LOG_MB: '1' },
    });
  });
  afterAll(() => server.dispose());

  async function usageOf(api: ApiCaller): Promise<UsageRow> {
    const { body, text } = await api('GET', '/api/v2/me/usage');
    const { limits } = body['usage'] as { limits: UsageRow[] };
    const row = limits.find(({ limit }) => limit === 'kept_log_bytes');
    if (row === undefined) throw new Error(text);
    return row;
  }

  interface Person {
    api: ApiCaller;
    host: TestHost;
    deviceId: string;
  }

  async function createPerson(name: string): Promise<Person> {
    const { api, token } = await server.createCaller(name);
    return { api, ...(await server.connectHost({ token, serials: [name] }, api)) };
  }

  /** Creates a run that logs 600 KB of incompressible text, and ends it by default. */
  async function logMuch({ api, host, deviceId }: Person, isEnded = true): Promise<string> {
    await api('POST', '/api/v2/devices/launchDirectAutomation', startBody(deviceId));
    const runId = host.messages('launch').at(-1)?.runs[0]?.run_id ?? '';
    await host.log(
      runId,
      Array.from({ length: 80 }, () => randomBytes(7500).toString('base64')),
    );
    if (isEnded) await host.end(runId, 'completed');
    return runId;
  }

  const linesOf = async ({ api }: Person, runId: string): Promise<number> => {
    const { body } = await api('GET', `/api/v2/runs/${runId}/logs?limit=100`);
    return Array.isArray(body['logs']) ? body['logs'].length : -1;
  };

  /** Advances the clock until the entries expire from the recent logs. */
  async function keep(person: Person, isKept: (row: UsageRow) => boolean): Promise<void> {
    server.clock.advance(11 * minuteMs);
    await expect.poll(async () => isKept(await usageOf(person.api))).toBe(true);
  }

  it('beyond what a user may keep the logs of the oldest runs go, and of nobody else', async () => {
    const [ann, bob] = [await createPerson('ann'), await createPerson('bob')];
    const ofBob = await logMuch(bob);
    const first = await logMuch(ann);
    await keep(ann, ({ used }) => (used ?? 0) > 500_000);
    expect(await usageOf(ann.api)).toMatchObject({
      most: 2 ** 20,
      unit: 'bytes',
      per: 'user',
      setting: 'PHALANX_MAX_KEPT_LOG_MB',
      code: null,
      refused: 0,
    });
    const second = await logMuch(ann);
    await keep(ann, ({ refused }) => refused === 1);
    expect((await usageOf(ann.api)).used).toBeLessThanOrEqual(2 ** 20);
    await expect.poll(() => linesOf(ann, first)).toBe(0);
    expect([await linesOf(ann, second), await linesOf(bob, ofBob)]).toEqual([80, 80]);
    expect((await usageOf(bob.api)).refused).toBe(0);
  });

  it('a run that has not ended keeps what it has, and what is kept counts after a restart', async () => {
    const eve = await createPerson('eve');
    const active = await logMuch(eve, false);
    await keep(eve, ({ used }) => (used ?? 0) > 0);
    await logMuch(eve);
    await keep(eve, ({ refused }) => refused === 1);
    expect(await linesOf(eve, active)).toBe(80);
    await server.restart();
    expect((await usageOf(eve.api)).used).toBeGreaterThan(0);
  });
});
