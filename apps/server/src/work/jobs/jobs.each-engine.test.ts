import { Job, Task } from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { TestProject } from '../../code/projects/testing/test-projects.ts';
import type { ApiCaller } from '../../testing/api-caller.ts';
import { isOneServer } from '../../testing/engines/test-database.ts';
import type { TestHost } from '../../testing/test-host.ts';
import { TestServer } from '../../testing/test-server.ts';

const jobs = Compile(Job);
const taskLists = Compile(Type.Array(Task));
const polling = { timeout: 40_000, interval: 50 };

let server: TestServer;
let host: TestHost;
let ids: string[];
let project: TestProject;

beforeAll(async () => {
  server = await TestServer.start({ ackTimeoutMs: 10_000, sweepMs: 50 });
  ({ host, deviceIds: ids } = await server.connectHost({ serials: ['a', 'b', 'c'] }));
  project = await TestProject.create(server.api, 'checkout');
  await project.put('main.ts', 'console.log(1);');
});
afterEach(async () => {
  const { body } = await server.api('GET', '/api/v2/jobs?open=true');
  for (const job of Array.isArray(body['jobs']) ? body['jobs'] : [])
    await server.api('POST', `/api/v2/jobs/${job.id}/cancel`);
  host.launchHabit = 'ack';
  for (const id of ids)
    await server.api('POST', '/api/v2/devices/stopAllAutomations', { body: { device_id: id } });
});
afterAll(async () => {
  await host.cut();
  await server.dispose();
});

const jobOf = (value: unknown, text: string): Job => {
  if (!jobs.Check(value)) throw new Error(text);
  return value;
};
const create = async (more: object, api: ApiCaller = server.api): Promise<Job> => {
  const body = { automation_id: project.id, ...more };
  const reply = await api('POST', '/api/v2/jobs', { body });
  return jobOf(reply.body['job'], reply.text);
};
const read = async (id: string, api: ApiCaller = server.api): Promise<Job> => {
  const reply = await api('GET', `/api/v2/jobs/${id}`);
  return jobOf(reply.body['job'], reply.text);
};
const tasksOf = async (id: string): Promise<Task[]> => {
  const { body, text } = await server.api('GET', `/api/v2/jobs/${id}/tasks`);
  if (!taskLists.Check(body['tasks'])) throw new Error(text);
  return body['tasks'];
};
const until = (id: string, counts: Partial<Job['tasks']>): Promise<void> =>
  expect.poll(async () => (await read(id)).tasks, polling).toMatchObject(counts);
const runsOf = async (id: string): Promise<string[]> =>
  (await tasksOf(id)).filter(({ status }) => status === 'running').flatMap(({ run_id }) => run_id ?? []);

describe('a job', () => {
  it('waits for free phones, says why, and begins when one is free', async () => {
    const first = await create({ selector: 'model~pixel', count: 3 });
    await until(first.id, { running: 3 });
    const second = await create({ device_ids: [ids[0]], priority: 1 });
    const third = await create({ selector: 'serial=a' });
    expect(await read(second.id)).toMatchObject({
      status: 'waiting',
      place: 0,
      reason: 'The job is waiting for a phone: of 1 phone that fit, 1 is busy.',
    });
    expect(await read(third.id)).toMatchObject({ place: 1 });
    const onFirst = (await tasksOf(first.id)).find(({ device_id }) => device_id === ids[0]);
    await host.end(onFirst?.run_id ?? '', 'completed', { result: '{"order":7}' });
    await until(second.id, { running: 1 });
    expect(await read(third.id)).toMatchObject({ status: 'waiting' });
    expect(await tasksOf(first.id)).toContainEqual(
      expect.objectContaining({ status: 'completed', result: { order: 7 }, device_id: ids[0] }),
    );
    for (const runId of await runsOf(second.id)) await host.end(runId, 'completed');
    await until(third.id, { running: 1 });
    for (const { id } of [first, third])
      for (const runId of await runsOf(id)) await host.end(runId, 'completed');
    await expect
      .poll(() => read(first.id), polling)
      .toMatchObject({
        status: 'completed',
        tasks: { completed: 3, running: 0, waiting: 0 },
        ended_at: expect.any(Number),
      });
  });

  it('has the settings of the phones of its runs', async () => {
    const phone_settings = { http_proxy: '10.0.0.5:3128' };
    const job = await create({ selector: 'serial=a', phone_settings });
    expect(job).toMatchObject({ phone_settings });
    await until(job.id, { running: 1 });
    await expect.poll(() => host.messages('launch').at(-1)?.phone_settings).toEqual(phone_settings);
    for (const runId of await runsOf(job.id)) await host.end(runId, 'completed');
  });

  it('is counted by automation, pool, phone, day and reason', async () => {
    const other = await TestProject.create(server.api, 'counted');
    await other.put('main.ts', 'console.log(1);');
    await server.api('PUT', '/api/v2/pools/counted', { body: { selector: 'serial=a|b' } });
    const job = await create({ automation_id: other.id, device_ids: ids, retries: 0 });
    await until(job.id, { running: 3 });
    const [first = '', second = '', third = ''] = await runsOf(job.id);
    await host.end(first, 'completed');
    await host.end(second, 'failed', { error: { code: 'error', message: 'no such button' } });
    await host.end(third, 'completed');
    const statsBy = async (by: string, more = '') => {
      const { body, text } = await server.api(
        'GET',
        `/api/v2/stats?by=${by}&days=2&automation_id=${other.id}${more}`,
      );
      return { stats: body['stats'], total: body['total'], text };
    };
    await expect
      .poll(async () => (await statsBy('automation')).stats, polling)
      .toMatchObject([
        {
          key: other.id,
          name: 'counted',
          runs: 3,
          success_share: 2 / 3,
          outcomes: [
            { outcome: 'succeeded', runs: 2 },
            { outcome: 'failed', runs: 1 },
          ],
          reasons: [{ reason: 'error', runs: 1 }],
          average_run_ms: expect.any(Number),
          average_wait_ms: expect.any(Number),
        },
      ]);
    expect((await statsBy('reason')).stats).toMatchObject([{ key: 'error', runs: 1 }]);
    await expect
      .poll(async () => (await statsBy('pool')).stats, polling)
      .toMatchObject([{ key: 'counted', runs: 2 }]);
    expect((await statsBy('device', '&selector=serial%3Dc')).stats).toMatchObject([{ key: ids[2], runs: 1 }]);
    expect((await statsBy('day')).stats).toMatchObject([{ runs: 0 }, { runs: 3 }]);
    const csv = await server.api('GET', `/api/v2/stats/export?by=device&automation_id=${other.id}`);
    expect(csv.text.split('\r\n')).toHaveLength(5);
    expect(csv.text).toMatch(/^device,name,runs,succeeded,/);
    expect((await server.api('GET', '/api/v2/stats?by=pool&selector=pool%3Dnone')).status).toBe(400);
  });

  it('with inputs is a run for each of them, which has it as its job variables', async () => {
    host.launchHabit = 'ends_at_once';
    const inputs = Array.from({ length: 40 }, (_, at) => ({ row: at + 1 }));
    const job = await create({ selector: 'model~pixel', inputs, parameters: { shop: 'x' } });
    await until(job.id, { completed: 40 });
    const tasks = await tasksOf(job.id);
    expect(tasks.map(({ input }) => input)).toEqual(inputs);
    const launches = host
      .messages('launch')
      .filter(({ runs }) => tasks.some(({ run_id }) => run_id === runs[0]?.run_id));
    const rows = launches.map(({ job_variables }) => Number(job_variables['row']));
    expect(rows.toSorted((one, other) => one - other)).toEqual(inputs.map(({ row }) => row));
    expect(launches[0]?.automation_parameters).toEqual({ shop: 'x' });
    expect(new Set(tasks.map(({ device_id }) => device_id))).toEqual(new Set(ids));
  });

  it('tries a task again whose phone has failed, on another phone, and not one whose code has', async () => {
    const job = await create({ selector: 'serial=a|b', inputs: [{ row: 1 }] });
    await until(job.id, { running: 1 });
    const [before] = await tasksOf(job.id);
    const error = { code: 'phone_lost', message: 'The phone was away' };
    await host.end(before?.run_id ?? '', 'failed', { error });
    await until(job.id, { waiting: 1, running: 0 });
    await until(job.id, { running: 1 });
    const [again] = await tasksOf(job.id);
    expect(again?.device_id).not.toBe(before?.device_id);
    await host.end(again?.run_id ?? '', 'failed', {
      error: { code: 'uncaught_error', message: 'no button' },
    });
    await until(job.id, { failed: 1 });
    const [task] = await tasksOf(job.id);
    expect(task?.error).toMatchObject({ code: 'uncaught_error', message: 'no button' });
    expect(task?.attempts).toMatchObject([
      { run_id: before?.run_id, reason: 'phone: The phone was away' },
      { run_id: again?.run_id, reason: 'error: no button' },
    ]);
    expect(await read(job.id)).toMatchObject({ status: 'failed' });
  });

  // Runs with one server only: code that another server has stored is sent again.
  it.runIf(isOneServer)('does not count a run whose host did not get the code', async () => {
    host.launchHabit = 'silent';
    const launched = host.waitFor('launch');
    const job = await create({ selector: 'serial=a', retries: 0 });
    await launched;
    await host.cut();
    host.launchHabit = 'ack';
    await host.connect();
    await until(job.id, { running: 0, waiting: 1 });
    await until(job.id, { running: 1 });
    const [again = ''] = await runsOf(job.id);
    await host.end(again, 'completed');
    await until(job.id, { completed: 1 });
    const [task] = await tasksOf(job.id);
    expect(task?.attempts.map(({ reason }) => reason)).toEqual([
      'phone: The connection to the host broke before the host had the code',
      'completed',
    ]);
  });

  it('tries again after what its rule names, as often as it says', async () => {
    const retries = { most: 1, on: ['error'] };
    const job = await create({ selector: 'serial=a', retries });
    let last = '';
    for (let attempt = 0; attempt < 2; attempt += 1) {
      // The end of a run may be stored a moment before its task is settled.
      await expect.poll(async () => (await runsOf(job.id))[0] ?? last, polling).not.toBe(last);
      [last = ''] = await runsOf(job.id);
      await host.end(last, 'failed', { error: { code: 'uncaught_error', message: 'no' } });
    }
    await until(job.id, { failed: 1 });
    expect((await tasksOf(job.id))[0]?.attempts).toHaveLength(2);
  });

  it('with a key is made once, for any number of requests at once', async () => {
    const body = { selector: 'serial=a', key: 'nightly 1' };
    const made = await Promise.all(Array.from({ length: 20 }, () => create(body)));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    const other = await server.api('POST', '/api/v2/jobs', {
      body: { automation_id: project.id, ...body, count: 2 },
    });
    expect(other.body).toMatchObject({ code: 'job_key_conflict' });
  });

  it('that is cancelled begins nothing more and stops what runs; resumed, it goes on with the rest', async () => {
    const inputs = Array.from({ length: 5 }, (_, at) => ({ row: at }));
    const job = await create({ selector: 'model~pixel', inputs, count: 2 });
    await until(job.id, { running: 2 });
    expect((await read(job.id)).reason).toBe(
      'The job is waiting: 2 tasks are running, and at most 2 may run at once.',
    );
    const [runId = ''] = await runsOf(job.id);
    await host.end(runId, 'completed');
    await until(job.id, { completed: 1, running: 2 });
    await server.api('POST', `/api/v2/jobs/${job.id}/cancel`);
    await until(job.id, { completed: 1, cancelled: 4, running: 0, waiting: 0 });
    expect((await read(job.id)).status).toBe('cancelled');
    host.launchHabit = 'ends_at_once';
    await server.api('POST', `/api/v2/jobs/${job.id}/resume`);
    await until(job.id, { completed: 5 });
  });

  it('has at most so many tasks at once as the key of its concurrency allows', async () => {
    const concurrency = { key: 'one account', most: 1 };
    const first = await create({ selector: 'serial=a', concurrency });
    await until(first.id, { running: 1 });
    const second = await create({ selector: 'serial=b', concurrency });
    const free = await create({ selector: 'serial=c' });
    await until(free.id, { running: 1 });
    expect(await read(second.id)).toMatchObject({ tasks: { waiting: 1 } });
    for (const runId of await runsOf(first.id)) await host.end(runId, 'completed');
    await until(second.id, { running: 1 });
  });

  it('fails what has not begun within wait_seconds', async () => {
    const busy = await create({ selector: 'serial=a' });
    await until(busy.id, { running: 1 });
    const job = await create({ selector: 'serial=a', wait_seconds: 60 });
    server.clock.advance(61_000);
    await until(job.id, { failed: 1 });
    expect((await tasksOf(job.id))[0]?.error?.code).toBe('wait_expired');
  });

  it('fails with the reason when its project is gone, or its code does not compile', async () => {
    const other = await TestProject.create(server.api);
    await other.put('main.ts', 'console.log(1);');
    const busy = await create({ selector: 'serial=a' });
    await until(busy.id, { running: 1 });
    const job = await create({ automation_id: other.id, selector: 'serial=a' });
    await server.api('DELETE', `/api/v2/automation-project/${other.id}`);
    for (const runId of await runsOf(busy.id)) await host.end(runId, 'completed');
    await until(job.id, { failed: 1 });
    expect(await read(job.id)).toMatchObject({ reason: expect.stringContaining('was not found') });
  });

  it('goes on after a restart of the service with what has not ended', async () => {
    const inputs = Array.from({ length: 6 }, (_, at) => ({ row: at }));
    const job = await create({ selector: 'model~pixel', inputs });
    await until(job.id, { running: 3, waiting: 3 });
    // Runs that have not reached their host would be retried.
    const listRuns = async (): Promise<unknown[]> =>
      Promise.all(
        (await runsOf(job.id)).map(async (id) => (await server.api('GET', `/api/v2/runs/${id}`)).body),
      );
    const begun = { run: { status: 'running' } };
    await expect.poll(listRuns).toMatchObject([begun, begun, begun]);
    await server.restart();
    host.url = server.url;
    host.launchHabit = 'ends_at_once';
    await host.connect();
    for (const runId of await runsOf(job.id)) await host.end(runId, 'completed');
    await until(job.id, { completed: 6 });
    const reasons = (await tasksOf(job.id)).map(({ attempts }) => attempts.map(({ reason }) => reason));
    expect(reasons).toEqual(inputs.map(() => ['completed']));
  });

  it('is its maker’s and its project’s: others do not find it', async () => {
    const job = await create({ selector: 'serial=none' });
    const ada = await server.createCaller(`ada ${crypto.randomUUID()}`);
    expect((await ada.api('GET', `/api/v2/jobs/${job.id}`)).status).toBe(404);
    expect((await ada.api('POST', `/api/v2/jobs/${job.id}/cancel`)).status).toBe(404);
    await server.api('PUT', `/api/v2/automation-project/${project.id}/members/${ada.userId}`, {
      body: { role: 'shared_viewer' },
    });
    expect(await read(job.id, ada.api)).toMatchObject({ id: job.id });
    expect((await ada.api('POST', `/api/v2/jobs/${job.id}/cancel`)).status).toBe(403);
  });
});

it('phones are shared fairly between users who all have much to do', async () => {
  host.launchHabit = 'ends_at_once';
  const users = await Promise.all(
    ['x', 'y', 'z'].map((name) => server.createCaller(`${name} ${crypto.randomUUID()}`)),
  );
  for (const { userId, api } of users) {
    await server.api('PUT', `/api/v2/hosts/${host.hostId}/members/${userId}`, { body: { role: 'launch' } });
    await api('POST', '/api/v2/shares/accept', { body: { kind: 'host', id: host.hostId } });
    await server.api('PUT', `/api/v2/automation-project/${project.id}/members/${userId}`, {
      body: { role: 'shared_editor' },
    });
  }
  // No task starts until all users have their jobs.
  const busy = await create({ selector: 'model~pixel', count: 3, priority: 100 });
  await until(busy.id, { completed: 3 });
  host.launchHabit = 'ack';
  const blocker = await create({ selector: 'model~pixel', count: 3 });
  await until(blocker.id, { running: 3 });
  const before = host.messages('launch').length;
  const inputs = Array.from({ length: 60 }, (_, at) => ({ row: at }));
  const made = [];
  for (const [at, { api }] of users.entries())
    made.push(
      await create({ selector: 'model~pixel', inputs, parameters: { user: at }, priority: at * 50 }, api),
    );
  host.launchHabit = 'ends_at_once';
  for (const runId of await runsOf(blocker.id)) await host.end(runId, 'completed');
  for (const { id } of made) await until(id, { completed: 60 });
  const order = host
    .messages('launch')
    .slice(before)
    .map(({ automation_parameters: given }) => given['user']);
  const early = order.slice(0, 90);
  for (const at of users.keys()) {
    const share = early.filter((user) => user === at).length;
    expect(Math.abs(share - 30), `${share} of 90 for user ${at}`).toBeLessThanOrEqual(3);
  }
});
