/** Jobs and schedules of tokens that are limited to phones. */
import { scopes, type Job, type Task } from '@phalanx/protocol';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';

import { TestProject } from '../../code/projects/testing/test-projects.ts';
import { type ApiCaller, type ApiReply, createApiCaller } from '../../testing/api-caller.ts';
import type { TestHost } from '../../testing/test-host.ts';
import { TestServer } from '../../testing/test-server.ts';
import { minuteMs } from '@phalanx/timing/durations';

const polling = { timeout: 40_000, interval: 50 };

let server: TestServer;
let host: TestHost;
let [shop, bank, other] = ['', '', ''];
let project: TestProject;

beforeAll(async () => {
  server = await TestServer.start({ ackTimeoutMs: 10_000, sweepMs: 50 });
  const connected = await server.connectHost({ serials: ['a', 'b', 'c'] });
  host = connected.host;
  [shop = '', bank = '', other = ''] = connected.deviceIds;
  project = await TestProject.create(server.api, 'checkout');
  await project.put('main.ts', 'console.log(1);');
});
beforeEach(async () => {
  await label(shop, 'shop');
  await label(bank, 'bank');
});
afterAll(async () => {
  await host.cut();
  await server.dispose();
});

async function label(id: string, team: string): Promise<void> {
  await server.api('PUT', `/api/v2/devices/${id}/labels`, { body: { labels: { team } } });
  // Each server receives the change within a moment.
  for (const api of server.apis)
    await expect
      .poll(async () => (await api('GET', `/api/v2/devices/${id}`)).body['device'], polling)
      .toMatchObject({ labels: { team } });
}

async function limited(limit: object): Promise<{ api: ApiCaller; tokenId: string }> {
  const { secret, id } = await server.createToken({ scopes: [...scopes], ...limit });
  return { api: createApiCaller(server.url, secret), tokenId: id };
}

const create = (api: ApiCaller, more: object): Promise<ApiReply> =>
  api('POST', '/api/v2/jobs', { body: { automation_id: project.id, ...more } });
const created = async (api: ApiCaller, more: object): Promise<Job> => {
  const { status, text, body } = await create(api, more);
  expect(status, text).toBe(201);
  return body['job'] as Job;
};
const read = async (id: string): Promise<Job> =>
  (await server.api('GET', `/api/v2/jobs/${id}`)).body['job'] as Job;
const tasksOf = async (id: string): Promise<Task[]> =>
  (await server.api('GET', `/api/v2/jobs/${id}/tasks`)).body['tasks'] as Task[];
const runningOn = async (id: string): Promise<string[]> =>
  (await tasksOf(id)).flatMap(({ status, device_id }) => (status === 'running' ? (device_id ?? '') : []));
const cancel = async (id: string): Promise<void> => {
  await server.api('POST', `/api/v2/jobs/${id}/cancel`);
  for (const { run_id } of await tasksOf(id)) if (run_id !== null) await host.end(run_id, 'stopped');
  await expect.poll(async () => (await read(id)).ended_at, polling).not.toBeNull();
};

it('a job takes the phones of its token alone, as their labels are when each task begins', async () => {
  const { api } = await limited({ selector: 'team=shop' });
  const job = await created(api, { selector: 'model~pixel', count: 3 });
  await expect.poll(() => runningOn(job.id), polling).toEqual([shop]);
  expect((await read(job.id)).reason).toBe(
    'The job is waiting for a phone: of 1 phone that fit, 1 is busy. Its token is limited to team=shop.',
  );
  await label(other, 'shop');
  await expect.poll(async () => new Set(await runningOn(job.id)), polling).toEqual(new Set([shop, other]));
  await label(other, 'bank');
  await cancel(job.id);
});

it('phones that are named have to be of the token, when the job is made and when a task begins', async () => {
  const { api } = await limited({ selector: 'team=shop' });
  for (const device_ids of [[bank], [shop, bank]])
    expect((await create(api, { device_ids })).body['code']).toBe('devices_unavailable');
  const busy = await created(server.api, { device_ids: [shop] });
  await expect.poll(() => runningOn(busy.id), polling).toEqual([shop]);
  const job = await created(api, { device_ids: [shop] });
  await label(shop, 'lost');
  await cancel(busy.id);
  const free = await created(server.api, { device_ids: [shop] });
  await expect.poll(() => runningOn(free.id), polling).toEqual([shop]);
  await cancel(free.id);
  expect(await read(job.id)).toMatchObject({ status: 'waiting', tasks: { waiting: 1, running: 0 } });
  await label(shop, 'shop');
  await expect.poll(() => runningOn(job.id), polling).toEqual([shop]);
  await cancel(job.id);
});

it('a job runs on no more phones at a time than its token may launch on', async () => {
  const { api } = await limited({ max_phones: 2 });
  const inputs = [1, 2, 3, 4, 5].map((row) => ({ row }));
  for (const more of [{ inputs }, { inputs, count: 3 }, { count: 3 }]) {
    const job = await created(api, { selector: 'model~pixel', ...more });
    await expect.poll(() => runningOn(job.id), polling).toHaveLength(2);
    expect((await read(job.id)).reason).toBe(
      'The job is waiting: 2 tasks are running, and at most 2 may run at once.',
    );
    await cancel(job.id);
  }
});

it('jobs are seen and changed by tokens of the same limit and of the whole user, and by no other', async () => {
  const { api } = await limited({ selector: 'team=shop' });
  const eve = await server.createCaller('eve');
  await server.api('PUT', `/api/v2/automation-project/${project.id}/members/${eve.userId}`, {
    body: { role: 'shared_editor' },
  });
  const evesToken = await server.createToken({
    user_id: eve.userId,
    scopes: [...scopes],
    selector: 'team=shop',
  });
  const same = await limited({ selector: 'team=shop' });
  const strangers = [
    (await limited({ selector: 'team=bank' })).api,
    (await limited({ selector: 'team=shop', max_phones: 1 })).api,
    createApiCaller(server.url, evesToken.secret),
  ];
  const job = await created(api, { selector: 'model~pixel', key: 'once' });
  await expect.poll(() => runningOn(job.id), polling).toEqual([shop]);
  const whole = await created(server.api, { device_ids: [bank] });
  const paths = [
    ['GET', ''],
    ['GET', '/tasks'],
    ['GET', '/results'],
    ['POST', '/cancel'],
    ['POST', '/resume'],
    ['DELETE', ''],
  ] as const;
  for (const [method, path] of paths) {
    for (const stranger of strangers)
      expect((await stranger(method, `/api/v2/jobs/${job.id}${path}`)).body['code']).toBe('job_not_found');
    expect((await api(method, `/api/v2/jobs/${whole.id}${path}`)).body['code']).toBe('job_not_found');
  }
  const listed = async (by: ApiCaller): Promise<unknown[]> =>
    ((await by('GET', '/api/v2/jobs?open=true')).body['jobs'] as Job[]).map(({ id }) => id);
  for (const stranger of strangers) expect(await listed(stranger)).toEqual([]);
  for (const own of [api, same.api]) expect(await listed(own)).toEqual([job.id]);
  expect(await listed(server.api)).toEqual([whole.id, job.id]);
  const again = { selector: 'model~pixel', key: 'once' };
  expect((await created(same.api, again)).id).toBe(job.id);
  for (const by of [server.api, strangers[0] ?? api])
    expect((await create(by, again)).body['code']).toBe('job_key_conflict');
  expect((await same.api('POST', `/api/v2/jobs/${job.id}/cancel`)).status).toBe(200);
  for (const { id } of [job, whole]) await cancel(id);
});

it('a schedule keeps to the phones of its token, also when that is revoked', async () => {
  const { api, tokenId } = await limited({ selector: 'team=shop' });
  const stranger = (await limited({ selector: 'team=bank' })).api;
  const work = { automation_id: project.id, cron: '* * * * *', time_zone: 'UTC' };
  const named = { body: { ...work, device_ids: [bank] } };
  expect((await api('POST', '/api/v2/schedules', named)).body['code']).toBe('devices_unavailable');
  const made = await api('POST', '/api/v2/schedules', {
    body: { ...work, selector: 'model~pixel', count: 2, paused: true },
  });
  expect(made.status, made.text).toBe(201);
  const { id } = made.body['schedule'] as { id: string };
  const path = `/api/v2/schedules/${id}`;
  for (const [method, more] of [
    ['GET', ''],
    ['GET', '/turns'],
    ['PATCH', ''],
    ['DELETE', ''],
  ] as const) {
    const given = method === 'PATCH' ? { body: { paused: false } } : {};
    expect((await stranger(method, path + more, given)).body['code']).toBe('schedule_not_found');
  }
  expect((await stranger('GET', '/api/v2/schedules')).body['schedules']).toEqual([]);
  expect((await api('GET', '/api/v2/schedules')).body['schedules']).toMatchObject([{ id }]);
  const moved = await api('PATCH', path, { body: { device_ids: [bank] } });
  expect(moved.body['code']).toBe('devices_unavailable');
  expect((await api('PATCH', path, { body: { paused: false } })).status).toBe(200);
  await server.api('DELETE', `/api/v2/tokens/${tokenId}`);
  server.clock.advance(minuteMs);
  const jobs = async (): Promise<Job[]> =>
    (await server.api('GET', '/api/v2/jobs?open=true')).body['jobs'] as Job[];
  await expect.poll(async () => (await jobs()).length, polling).toBe(1);
  const [job] = await jobs();
  await expect.poll(() => runningOn(job?.id ?? ''), polling).toEqual([shop]);
  expect((await read(job?.id ?? '')).reason).toContain('Its token is limited to team=shop.');
  await server.api('DELETE', path);
  await cancel(job?.id ?? '');
});

it('what a job or a schedule runs uses the apps of its token alone, and other tokens do not see it', async () => {
  const apps = ['com.example.shop'];
  const { api } = await limited({ apps });
  const stranger = (await limited({ apps: ['com.example.bank'] })).api;
  const told = (from: number): unknown[] =>
    host.received.slice(from).flatMap((message) => (message.type === 'launch' ? [message.app_limit] : []));
  const before = host.received.length;
  const job = await created(api, { device_ids: [shop] });
  await expect.poll(() => runningOn(job.id), polling).toEqual([shop]);
  await expect.poll(() => told(before), polling).toEqual([{ apps, token: 'test' }]);
  expect((await stranger('GET', `/api/v2/jobs/${job.id}`)).body['code']).toBe('job_not_found');
  await cancel(job.id);
  const from = host.received.length;
  const work = { automation_id: project.id, cron: '* * * * *', time_zone: 'UTC', device_ids: [shop] };
  const made = await api('POST', '/api/v2/schedules', { body: work });
  expect(made.status, made.text).toBe(201);
  server.clock.advance(minuteMs);
  await expect.poll(() => told(from), polling).toEqual([{ apps, token: 'test' }]);
  const { id } = made.body['schedule'] as { id: string };
  await server.api('DELETE', `/api/v2/schedules/${id}`);
  const [turn] = (await server.api('GET', '/api/v2/jobs?open=true')).body['jobs'] as Job[];
  await cancel(turn?.id ?? '');
});

it('a launch by a token that is limited to apps tells the host so', async () => {
  const { api } = await limited({ apps: ['com.example.shop'] });
  const launched = host.waitFor('launch');
  const body = { automationId: project.id, command: 'start', device_ids: [other] };
  const reply = await api('POST', '/api/v2/devices/launchAutomation', { body });
  expect(reply.status, reply.text).toBe(200);
  expect((await launched).app_limit).toEqual({ apps: ['com.example.shop'], token: 'test' });
});
