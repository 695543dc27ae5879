/** Tests the daily budget of a token, whichever server it asks. */
import { randomUUID } from 'node:crypto';
import { scopes, type Job } from '@phalanx/protocol';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';

import { TestProject } from '../../code/projects/testing/test-projects.ts';
import { type ApiCaller, type ApiReply, createApiCaller } from '../../testing/api-caller.ts';
import type { TestHost } from '../../testing/test-host.ts';
import { TestServer } from '../../testing/test-server.ts';
import { minuteMs, dayMs } from '@phalanx/timing/durations';

const polling = { timeout: 8_000, interval: 50 };

let server: TestServer;
let host: TestHost;
let phones: string[];
let project: TestProject;

beforeAll(async () => {
  server = await TestServer.start({ ackTimeoutMs: 10_000, sweepMs: 50 });
  const connected = await server.connectHost({ serials: ['a', 'b', 'c'] });
  host = connected.host;
  phones = connected.deviceIds;
  project = await TestProject.create(server.api, 'checkout');
  await project.put('main.ts', 'console.log(1);');
});
/** The day has just begun. */
beforeEach(() => pass(dayMs - (server.clock.now() % dayMs) + 1));
afterAll(async () => {
  await host.cut();
  await server.dispose();
});

async function pass(ms: number): Promise<void> {
  server.clock.advance(ms);
  await host.heartbeat();
}

async function limited(budget: object): Promise<ApiCaller> {
  const { secret } = await server.createToken({ scopes: [...scopes], ...budget });
  return (...given) => createApiCaller(server.url, secret)(...given);
}

const launch = (api: ApiCaller, device_ids = phones.slice(0, 1)): Promise<ApiReply> =>
  api('POST', '/api/v2/devices/launchAutomation', {
    body: { automationId: project.id, command: 'start', device_ids },
  });

const running = async (): Promise<string[]> =>
  ((await server.api('GET', '/api/v2/runs?status=running')).body['runs'] as { run_id: string }[]).map(
    ({ run_id: id }) => id,
  );

/** Ends all that run, after so long. */
async function endAfter(ms: number): Promise<void> {
  await expect.poll(running, polling).not.toEqual([]);
  await pass(ms);
  const ended_at = server.clock.now();
  const times = { started_at: ended_at - ms, ended_at };
  for (const id of await running()) await host.end(id, 'completed', times);
  await expect.poll(running, polling).toEqual([]);
}

it('runs beyond those of a day are refused until the day is over, also by direct code', async () => {
  const api = await limited({ runs_per_day: 3 });
  expect((await launch(api, phones.slice(0, 2))).status).toBe(200);
  await endAfter(1000);
  const many = await launch(api, phones.slice(0, 2));
  expect(many).toMatchObject({ status: 429, body: { code: 'budget_spent' } });
  expect(many.body['message']).toContain(
    'has a budget of 3 runs per day, and has used 2, and 2 more would begin',
  );
  expect(Number(many.headers.get('retry-after'))).toBeGreaterThan(80_000);
  const direct = { device_id: phones[2], launch_id: randomUUID(), code: '1', command: 'start' };
  const path = '/api/v2/devices/launchDirectAutomation';
  expect((await api('POST', path, { body: direct })).status).toBe(200);
  await endAfter(1000);
  expect((await launch(api)).body['code']).toBe('budget_spent');
  const { body } = await api('GET', '/api/v2/me');
  expect(body['token']).toMatchObject({ budget: { runs_per_day: 3, runs_used: 3, minutes_per_day: null } });
  expect((await api('GET', '/api/v2/me/usage')).body['budget']).toMatchObject({ runs_used: 3 });
  expect((await launch(server.api)).status).toBe(200);
  await endAfter(1000);
  await pass(dayMs);
  expect((await launch(api)).status).toBe(200);
  await endAfter(1000);
});

it('runs count as those of today, whichever day their host says that they ended on', async () => {
  const api = await limited({ runs_per_day: 1 });
  expect((await launch(api)).status).toBe(200);
  const times = { started_at: server.clock.now(), ended_at: server.clock.now() + 3 * dayMs };
  for (const id of await running()) await host.end(id, 'completed', times);
  expect((await launch(api)).body['code']).toBe('budget_spent');
});

it('minutes count while runs go on, and when they have ended', async () => {
  const api = await limited({ minutes_per_day: 10 });
  /** Hosts tell times of the service's clock. */
  const begin = async (): Promise<void> => {
    const sent = host.waitFor('launch');
    const reply = launch(api);
    for (const { run_id: id } of (await sent).runs)
      host.report(id, 'running', { started_at: server.clock.now() });
    expect((await reply).status).toBe(200);
  };
  host.launchHabit = 'silent';
  await begin();
  await endAfter(6 * minuteMs);
  await begin();
  await pass(5 * minuteMs);
  const refused = await launch(api, phones.slice(1, 2));
  expect(refused.body['message']).toContain('has a budget of 10 minutes of runs per day, and has used 11.');
  await endAfter(5 * minuteMs);
  expect((await launch(api)).body['code']).toBe('budget_spent');
  host.launchHabit = 'ack';
  const { body } = await api('GET', '/api/v2/tokens?limit=1000');
  const minutes = expect.objectContaining({ budget: expect.objectContaining({ minutes_used: 11 }) });
  expect(body['tokens']).toContainEqual(minutes);
});

it('tasks of a job wait for the next day, also when the token is revoked', async () => {
  const { secret, id } = await server.createToken({ scopes: [...scopes], runs_per_day: 1 });
  const inputs = [{ row: 1 }, { row: 2 }];
  const body = { automation_id: project.id, device_ids: phones, inputs };
  const made = await createApiCaller(server.url, secret)('POST', '/api/v2/jobs', { body });
  expect(made.status, made.text).toBe(201);
  const job = made.body['job'] as Job;
  const tasks = async (): Promise<Job['tasks']> =>
    ((await server.api('GET', `/api/v2/jobs/${job.id}`)).body['job'] as Job).tasks;
  await expect.poll(async () => (await tasks()).running, polling).toBe(1);
  await server.api('DELETE', `/api/v2/tokens/${id}`);
  await endAfter(1000);
  await expect.poll(tasks, polling).toMatchObject({ waiting: 1, running: 0, completed: 1 });
  await pass(dayMs);
  await expect.poll(async () => (await tasks()).running, polling).toBe(1);
  await endAfter(1000);
  await expect.poll(async () => (await tasks()).completed, polling).toBe(2);
});

it('a token with a budget makes no token that has another', async () => {
  const api = await limited({ runs_per_day: 1 });
  const made = await api('POST', '/api/v2/tokens', { body: { name: 'more' } });
  expect([made.status, made.body['message']]).toEqual([
    403,
    'A token with a budget may not use this endpoint.',
  ]);
});
