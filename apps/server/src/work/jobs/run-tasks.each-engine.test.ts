import { Job, RunTask, type RunTaskCall, Task } from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { TestProject } from '../../code/projects/testing/test-projects.ts';
import type { ApiReply } from '../../testing/api-caller.ts';
import type { TestHost } from '../../testing/test-host.ts';
import { TestServer } from '../../testing/test-server.ts';

const jobs = Compile(Job);
const taskLists = Compile(Type.Array(Task));
const ownTasks = Compile(Type.Array(RunTask));
const polling = { timeout: 40_000, interval: 50 };

let server: TestServer;
let host: TestHost;
let deviceId: string;
let project: TestProject;

beforeAll(async () => {
  server = await TestServer.start({ ackTimeoutMs: 10_000, sweepMs: 50 });
  ({ host, deviceId } = await server.connectHost({ serials: ['a'] }));
  project = await TestProject.create(server.api, 'checkout');
  await project.put('main.ts', 'console.log(1);');
});
afterEach(async () => {
  const { body } = await server.api('GET', '/api/v2/jobs?open=true');
  for (const job of Array.isArray(body['jobs']) ? body['jobs'] : [])
    await server.api('POST', `/api/v2/jobs/${job.id}/cancel`);
  await server.api('POST', '/api/v2/devices/stopAllAutomations', { body: { device_id: deviceId } });
});
afterAll(async () => {
  await host.cut();
  await server.dispose();
});

async function create(more: object = {}): Promise<Job> {
  const inputs = [{ row: 1 }, { row: 2 }, { row: 3 }];
  const body = { automation_id: project.id, selector: 'serial=a', inputs, ...more };
  const reply = await server.api('POST', '/api/v2/jobs', { body });
  if (!jobs.Check(reply.body['job'])) throw new Error(reply.text);
  return reply.body['job'];
}
async function tasksOf(id: string): Promise<Task[]> {
  const { body, text } = await server.api('GET', `/api/v2/jobs/${id}/tasks`);
  if (!taskLists.Check(body['tasks'])) throw new Error(text);
  return body['tasks'];
}
const countsOf = async (id: string): Promise<unknown> => {
  const { body } = await server.api('GET', `/api/v2/jobs/${id}`);
  const job = body['job'];
  return jobs.Check(job) ? [job.status, job.tasks] : body;
};

const seen = new Set<string>();

/** Finds a run that the job has started, of those that were not returned before. */
async function runOf(id: string): Promise<string> {
  const running = async (): Promise<string | undefined> => {
    const runs = (await tasksOf(id)).filter(({ status }) => status === 'running');
    return runs.flatMap(({ run_id: runId }) => runId ?? []).find((runId) => !seen.has(runId));
  };
  await expect.poll(running, polling).toBeDefined();
  const runId = (await running()) ?? '';
  seen.add(runId);
  return runId;
}

const ask = (runId: string, call: RunTaskCall, token?: string): Promise<ApiReply> =>
  server.api('POST', `/api/v2/hosts/runs/${runId}/tasks`, {
    body: call,
    ...(token === undefined ? {} : { token }),
  });
async function answer(runId: string, call: RunTaskCall): Promise<RunTask[]> {
  const { body, text } = await ask(runId, call);
  if (!ownTasks.Check(body['tasks'])) throw new Error(text);
  return body['tasks'];
}
async function only(runId: string, call: RunTaskCall): Promise<RunTask> {
  const [task] = await answer(runId, call);
  if (task === undefined) throw new Error('there is no task');
  return task;
}
const submission = (taskId: string, data: string, status: 'success' | 'failed' | 'declined' = 'success') =>
  ({ call: 'submit', task_id: taskId, status, is_final: true, data }) as const;

describe('the run of a task', () => {
  it('does one task after the other, and a lost answer does nothing twice', async () => {
    const job = await create();
    const runId = await runOf(job.id);
    let task = await only(runId, { call: 'current' });
    for (let done = 1; ; done += 1) {
      const data = JSON.stringify({ row: task.input?.['row'], done });
      expect(await only(runId, submission(task.id, data))).toMatchObject({ status: 'completed' });
      expect((await only(runId, submission(task.id, data))).id).toBe(task.id);
      const next = await answer(runId, { call: 'next', after: task.id });
      if (next[0] === undefined) break;
      expect(await answer(runId, { call: 'next', after: task.id })).toEqual(next);
      [task] = next;
    }
    expect(await countsOf(job.id)).toEqual(['completed', expect.objectContaining({ completed: 3 })]);
    const tasks = await tasksOf(job.id);
    expect(tasks.map(({ result, input }) => [result, input])).toEqual(
      [1, 2, 3].map((row) => [expect.objectContaining({ row }), { row }]),
    );
    expect(tasks.flatMap(({ attempts }) => attempts.map(({ reason }) => reason))).toEqual([
      'completed',
      'completed',
      'completed',
    ]);
    await host.end(runId, 'failed');
    expect(await countsOf(job.id)).toEqual(['completed', expect.objectContaining({ completed: 3 })]);
  });

  it('settles by its end what it has not submitted, and only that', async () => {
    const job = await create({ retries: 0 });
    const runId = await runOf(job.id);
    const first = await only(runId, { call: 'current' });
    await only(runId, submission(first.id, '{"a":1}'));
    const second = await only(runId, { call: 'next', after: first.id });
    expect(second.id).not.toBe(first.id);
    const noted = {
      call: 'submit',
      task_id: second.id,
      status: 'running',
      is_final: false,
      data: '{"b":1}',
    } as const;
    await only(runId, noted);
    await host.end(runId, 'failed');
    await expect
      .poll(() => tasksOf(job.id), polling)
      .toMatchObject(
        expect.arrayContaining([expect.objectContaining({ status: 'failed', result: { b: 1 } })]),
      );
    const settled = await tasksOf(job.id);
    expect(settled.find(({ id }) => id === first.id)).toMatchObject({
      status: 'completed',
      result: { a: 1 },
    });
  });

  it('fails a task for another try, and declines it for good', async () => {
    const job = await create({ retries: { most: 1, on: ['error'] } });
    const runId = await runOf(job.id);
    const first = await only(runId, { call: 'current' });
    expect(await only(runId, submission(first.id, '{}', 'failed'))).toMatchObject({ status: 'waiting' });
    const second = await only(runId, { call: 'next', after: first.id });
    expect(await only(runId, submission(second.id, '{}', 'declined'))).toMatchObject({ status: 'failed' });
    const late = await ask(runId, submission(second.id, '{"other":1}'));
    expect([late.status, late.body['code']]).toEqual([409, 'task_ended']);
    expect((await tasksOf(job.id)).find(({ id }) => id === second.id)?.error?.code).toBe('task_declined');
  });

  it('adds tasks that run, once each, and reads them', async () => {
    const job = await create({ inputs: [{ row: 1 }] });
    const runId = await runOf(job.id);
    const parent = await only(runId, { call: 'current' });
    await only(runId, submission(parent.id, '{}'));
    expect(await countsOf(job.id)).toEqual(['completed', expect.anything()]);
    const tasks = [2, 3].map((row) => ({ id: uuidv7(), input: JSON.stringify({ row }) }));
    for (let twice = 0; twice < 2; twice += 1)
      expect(
        (await answer(runId, { call: 'add', tasks })).map(({ number, parent_id }) => [number, parent_id]),
      ).toEqual([
        [2, parent.id],
        [3, parent.id],
      ]);
    expect(await countsOf(job.id)).toEqual([
      'waiting',
      expect.objectContaining({ waiting: 2, completed: 1 }),
    ]);
    const ids = [...tasks.map(({ id }) => id), uuidv7()];
    expect(await answer(runId, { call: 'list', ids })).toHaveLength(2);
    await host.end(runId, 'completed');
    for (let row = 2; row <= 3; row += 1)
      await host.end(await runOf(job.id), 'completed', { result: `{"r":${row}}` });
    await expect
      .poll(() => countsOf(job.id), polling)
      .toEqual(['completed', expect.objectContaining({ completed: 3 })]);
  });

  it('adds a task with its result to another job of the project, and to no other’s', async () => {
    const job = await create({ inputs: [{ row: 1 }] });
    const other = await create({ selector: 'serial=nowhere', inputs: [{ row: 1 }] });
    const runId = await runOf(job.id);
    const order = {
      call: 'submit_elsewhere',
      job_id: other.id,
      id: uuidv7(),
      is_success: true,
      data: '{"x":1}',
    } as const;
    expect(await only(runId, order)).toMatchObject({ number: 2, status: 'completed', result: { x: 1 } });
    expect(await only(runId, order)).toMatchObject({ number: 2 });
    expect(await countsOf(other.id)).toEqual([
      'waiting',
      expect.objectContaining({ waiting: 1, completed: 1 }),
    ]);
    await server.api('POST', `/api/v2/jobs/${other.id}/cancel`);
    expect((await ask(runId, { ...order, id: uuidv7() })).body).toMatchObject({
      code: 'job_cancelled',
      message: `Job ${other.id} was cancelled, so it takes no more tasks.`,
    });
    const foreign = await TestProject.create(server.api, 'foreign');
    await foreign.put('main.ts', 'console.log(1);');
    const elsewhere = await create({ automation_id: foreign.id, selector: 'serial=nowhere' });
    expect((await ask(runId, { ...order, job_id: elsewhere.id, id: uuidv7() })).body['code']).toBe(
      'job_not_found',
    );
    const added: RunTaskCall = {
      call: 'add',
      job_id: elsewhere.id,
      tasks: [{ id: uuidv7(), input: '{}' }],
    };
    expect((await ask(runId, added)).body['code']).toBe('job_not_found');
  });

  it('is asked for by its host alone, with what fits, while it runs', async () => {
    const { token } = await server.createCaller('other');
    const job = await create({ inputs: [{ row: 1 }] });
    const runId = await runOf(job.id);
    expect((await ask(runId, { call: 'current' }, token)).body['code']).toBe('run_not_found');
    const { id } = await only(runId, { call: 'current' });
    for (const data of ['[]', 'nonsense', '1', 'null'])
      expect([data, (await ask(runId, submission(id, data))).status]).toEqual([data, 400]);
    await server.api('POST', `/api/v2/jobs/${job.id}/cancel`);
    await expect
      .poll(async () => (await ask(runId, { call: 'current' })).body['code'], polling)
      .toBe('run_not_found');
  });

  it('of no job has no task', async () => {
    const { runId } = await server.startRun(host, deviceId);
    expect(await answer(runId, { call: 'current' })).toEqual([]);
    expect(await answer(runId, { call: 'next', after: uuidv7() })).toEqual([]);
    expect(await answer(runId, { call: 'add', tasks: [{ id: uuidv7(), input: '{}' }] })).toEqual([]);
  });
});
