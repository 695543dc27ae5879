/** Jobs and schedules that users other than their makers change. */
import { type Job, type Schedule, scopes, type Task } from '@phalanx/protocol';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { readUsage } from '../../kernel/limits/testing/read-usage.ts';
import { TestProject } from '../../code/projects/testing/test-projects.ts';
import { type ApiCaller, type ApiReply, createApiCaller } from '../../testing/api-caller.ts';
import type { TestHost } from '../../testing/test-host.ts';
import { adminToken, TestServer } from '../../testing/test-server.ts';
import { minuteMs } from '@phalanx/timing/durations';

const polling = { timeout: 40_000, interval: 50 };

let server: TestServer;
let hosts: TestHost[];
/** Phones of Alice, the administrator, and of Mallory. */
let [alices, mallorys] = ['', ''];
let project: TestProject;
let mallory: Awaited<ReturnType<TestServer['createCaller']>>;

beforeAll(async () => {
  server = await TestServer.start({ ackTimeoutMs: 10_000, sweepMs: 50 });
  mallory = await server.createCaller('mallory');
  const one = await server.connectHost({ serials: ['alice-1'] });
  const other = await server.connectHost(
    { serials: ['mallory-1'], token: mallory.token, hostId: uuidv7() },
    mallory.api,
  );
  hosts = [one.host, other.host];
  [alices, mallorys] = [one.deviceId, other.deviceId];
  project = await TestProject.create(server.api, 'checkout');
  await project.put('main.ts', 'console.log(1);');
  const role = { body: { role: 'shared_editor' } };
  await server.api('PUT', `/api/v2/automation-project/${project.id}/members/${mallory.userId}`, role);
});
afterAll(async () => {
  for (const host of hosts) await host.cut();
  await server.dispose();
});

function required(reply: ApiReply, name: string): unknown {
  if (reply.body[name] === undefined) throw new Error(reply.text);
  return reply.body[name];
}
const jobIn = (reply: ApiReply): Job => required(reply, 'job') as Job;
const scheduleIn = (reply: ApiReply): Schedule => required(reply, 'schedule') as Schedule;
const work = (): object => ({ automation_id: project.id, selector: 'model~pixel' });
const schedule = async (more: object = {}, api: ApiCaller = server.api): Promise<Schedule> => {
  const body = { ...work(), cron: '* * * * *', time_zone: 'UTC', paused: true, ...more };
  return scheduleIn(await api('POST', '/api/v2/schedules', { body }));
};
const change = (api: ApiCaller, { id }: { id: string }, body: object): Promise<ApiReply> =>
  api('PATCH', `/api/v2/schedules/${id}`, { body });
const makerOf = async ({ id }: { id: string }): Promise<string> =>
  scheduleIn(await server.api('GET', `/api/v2/schedules/${id}`)).user.id;
const tasksOf = async ({ id }: { id: string }): Promise<Task[]> =>
  required(await server.api('GET', `/api/v2/jobs/${id}/tasks`), 'tasks') as Task[];
const jobsOf = async (scheduleId: string): Promise<Job[]> =>
  (required(await server.api('GET', '/api/v2/jobs'), 'jobs') as Job[]).filter(
    ({ schedule_id }) => schedule_id === scheduleId,
  );
const running = async (job: { id: string }): Promise<Task[]> =>
  (await tasksOf(job)).filter(({ status }) => status === 'running');
async function end(job: { id: string }): Promise<void> {
  await server.api('POST', `/api/v2/jobs/${job.id}/cancel`);
  const ended = async (): Promise<boolean> => {
    for (const { run_id: id } of await running(job))
      for (const host of hosts) if (id !== null) await host.end(id, 'stopped').catch(() => undefined);
    return jobIn(await server.api('GET', `/api/v2/jobs/${job.id}`)).ended_at !== null;
  };
  await expect.poll(ended, polling).toBe(true);
}
async function limited(limit: object): Promise<ApiCaller> {
  const { secret } = await server.createToken({ scopes: [...scopes], ...limit });
  return createApiCaller(server.url, secret);
}

it('a schedule runs as whoever has changed it last, on their phones alone', async () => {
  const made = await schedule();
  const changed = await change(mallory.api, made, { selector: 'serial~-1', count: 2, paused: false });
  expect(scheduleIn(changed).user).toEqual({ id: mallory.userId, name: 'mallory' });
  server.clock.advance(minuteMs);
  await expect.poll(async () => (await jobsOf(made.id)).length, polling).toBe(1);
  const [job] = await jobsOf(made.id);
  if (job === undefined) throw new Error('no job');
  expect(job.user.id).toBe(mallory.userId);
  await expect
    .poll(async () => (await running(job)).map((task) => task.device_id), polling)
    .toEqual([mallorys]);
  expect((await tasksOf(job)).map(({ status }) => status).toSorted()).toEqual(['running', 'waiting']);
  await server.api('DELETE', `/api/v2/schedules/${made.id}`);
  await end(job);
});

it.each([
  ['its time', { cron: '0 3 * * *' }],
  ['its zone', { time_zone: 'Europe/Berlin' }],
  ['its parameters', { parameters: { a: 1 } }],
  ['a resumption', { paused: false }],
  ['its settings of phones', { phone_settings: { http_proxy: '10.0.0.5:3128' } }],
])('%s makes the editor the maker of a schedule', async (_, body) => {
  const made = await schedule();
  const reply = await change(mallory.api, made, body);
  expect(reply.status, reply.text).toBe(200);
  expect(await makerOf(made)).toBe(mallory.userId);
  await server.api('DELETE', `/api/v2/schedules/${made.id}`);
});

it('a pause, a name and a deletion take nothing over', async () => {
  const made = await schedule({ paused: false, cron: '0 0 1 1 *' });
  const owner = made.user.id;
  expect((await change(mallory.api, made, { paused: true, name: 'later' })).status).toBe(200);
  expect(await makerOf(made)).toBe(owner);
  expect((await mallory.api('DELETE', `/api/v2/schedules/${made.id}`)).status).toBe(200);
});

it('whoever takes a schedule over needs the phones that it names, and changes nothing without them', async () => {
  const made = await schedule({ selector: undefined, device_ids: [alices] });
  for (const body of [{ cron: '0 3 * * *' }, { paused: false }, { device_ids: [mallorys, alices] }])
    expect((await change(mallory.api, made, body)).body['code']).toBe('devices_unavailable');
  expect(scheduleIn(await server.api('GET', `/api/v2/schedules/${made.id}`))).toEqual(made);
  expect((await change(mallory.api, made, { device_ids: [mallorys] })).status).toBe(200);
  await server.api('DELETE', `/api/v2/schedules/${made.id}`);
});

it('a job that is resumed runs as whoever resumes it', async () => {
  const job = jobIn(await server.api('POST', '/api/v2/jobs', { body: { ...work(), key: 'mine' } }));
  await expect.poll(async () => (await running(job)).length, polling).toBe(1);
  await end(job);
  const resumed = await mallory.api('POST', `/api/v2/jobs/${job.id}/resume`);
  expect(jobIn(resumed).user.id).toBe(mallory.userId);
  await expect
    .poll(async () => (await running(job)).map((task) => task.device_id), polling)
    .toEqual([mallorys]);
  await end(job);
});

it('a job that names phones is resumed by nobody who may not launch there', async () => {
  const body = { ...work(), selector: undefined, device_ids: [alices] };
  const job = jobIn(await server.api('POST', '/api/v2/jobs', { body }));
  await expect.poll(async () => (await running(job)).length, polling).toBe(1);
  await end(job);
  const refused = await mallory.api('POST', `/api/v2/jobs/${job.id}/resume`);
  expect(refused.body['code']).toBe('devices_unavailable');
  expect((await tasksOf(job)).map(({ status }) => status)).toEqual(['cancelled']);
});

it('a budget that is spent changes no schedule and resumes no job, and what it changes spends it', async () => {
  const api = await limited({ runs_per_day: 1 });
  const inputs = [{ row: 1 }, { row: 2 }];
  const job = jobIn(
    await server.api('POST', '/api/v2/jobs', { body: { ...work(), selector: 'serial=alice-1', inputs } }),
  );
  await expect.poll(async () => (await running(job)).length, polling).toBe(1);
  await end(job);
  expect((await api('POST', `/api/v2/jobs/${job.id}/resume`)).status).toBe(200);
  await expect.poll(async () => (await running(job)).length, polling).toBe(1);
  const [task] = await running(job);
  await hosts[0]?.end(task?.run_id ?? '', 'completed');
  const statuses = async (): Promise<string[]> => (await tasksOf(job)).map(({ status }) => status).toSorted();
  await expect.poll(statuses, polling).toEqual(['completed', 'waiting']);
  const used = (required(await api('GET', '/api/v2/me'), 'token') as { budget: object }).budget;
  expect(used).toMatchObject({ runs_used: 1 });
  await end(job);
  const made = await schedule();
  expect((await api('POST', `/api/v2/jobs/${job.id}/resume`)).body['code']).toBe('budget_spent');
  expect((await change(api, made, { paused: false })).body['code']).toBe('budget_spent');
  expect((await change(api, made, { name: 'later' })).status).toBe(200);
  await server.api('DELETE', `/api/v2/schedules/${made.id}`);
});

it('a run of a limited token adds no tasks to a job of more rights, and reads none of its tasks', async () => {
  const [host] = hosts;
  if (host === undefined) throw new Error('no host');
  const whole = jobIn(
    await server.api('POST', '/api/v2/jobs', {
      body: { ...work(), selector: 'serial=none', inputs: [{ pin: '0815' }] },
    }),
  );
  const [secret] = await tasksOf(whole);
  for (const limit of [{ selector: 'serial=alice-1' }, { project_ids: [project.id] }, { runs_per_day: 9 }]) {
    const job = jobIn(await (await limited(limit))('POST', '/api/v2/jobs', { body: work() }));
    await expect.poll(async () => (await running(job)).length, polling).toBe(1);
    const [task] = await running(job);
    const call = (body: object): Promise<ApiReply> =>
      server.api('POST', `/api/v2/hosts/runs/${task?.run_id}/tasks`, { body });
    const added = { call: 'add', job_id: whole.id, tasks: [{ id: uuidv7(), input: '{"a":1}' }] };
    expect((await call(added)).body['code']).toBe('job_not_found');
    const elsewhere = {
      call: 'submit_elsewhere',
      id: uuidv7(),
      job_id: whole.id,
      is_success: true,
      data: '{}',
    };
    expect((await call(elsewhere)).body['code']).toBe('job_not_found');
    expect((await call({ call: 'list', ids: [secret?.id] })).body['tasks']).toEqual([]);
    const own = { ...added, job_id: job.id };
    expect((await call(own)).body['tasks']).toHaveLength(1);
    await end(job);
  }
  expect(await tasksOf(whole)).toHaveLength(1);
  await end(whole);
});

it('the bytes of work go with it to its new maker', async () => {
  const usedBy = async (token: string): Promise<number> =>
    (await readUsage({ server, token, limit: 'work_bytes' })).used ?? 0;
  const [alicesBefore, mallorysBefore] = [await usedBy(adminToken), await usedBy(mallory.token)];
  const made = await schedule({ parameters: { text: 'x'.repeat(50_000) } });
  expect(await usedBy(adminToken)).toBeGreaterThan(alicesBefore + 50_000);
  const changed = await change(mallory.api, made, { cron: '0 3 * * *' });
  expect(changed.status, changed.text).toBe(200);
  expect(await usedBy(adminToken)).toBe(alicesBefore);
  expect(await usedBy(mallory.token)).toBeGreaterThan(mallorysBefore + 50_000);
  await server.api('DELETE', `/api/v2/schedules/${made.id}`);
  expect(await usedBy(mallory.token)).toBe(mallorysBefore);
});
