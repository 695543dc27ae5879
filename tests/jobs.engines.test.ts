import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '@phalanx/client/api-client';
import { until } from '@phalanx/host/testing/until';
import {
  fileRoutes,
  Job,
  jobRoutes,
  projectRoutes,
  runRoutes,
  Task,
  type WebhookDelivery,
  webhookRoutes,
} from '@phalanx/protocol';
import { Webhook as Checker } from 'standardwebhooks';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { answer, Receiver } from '../apps/server/src/work/webhooks/testing/receiver.ts';
import { BalancedApi } from './cluster/balanced-api.ts';
import { Cluster } from './cluster/cluster.ts';
import { SimulatedHost } from './cluster/simulated-host.ts';
import { Installation } from './support/installation.ts';
import { SeededRandom } from './support/seeded-random.ts';

/** Number of kills. `KILL_ROUNDS=200 npm run test:engines -- tests/jobs.engines` runs longer. */
const rounds = Number(process.env['KILL_ROUNDS'] ?? '4');
const rowsARound = 12;
const timeLimitMs = 120_000 + rounds * 30_000;
const isClusterHere = !/postgresql|nats-server|radosgw|s3/.test(process.env['TEST_WITHOUT'] ?? '');
const inputs = Array.from({ length: rounds * rowsARound }, (_, row) => ({ row }));

const code = `
const { row } = agent.arguments.jobVariables as { row: number };
await agent.actions.sleep(500);
agent.control.setResult({ row });`;

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

let installation: Installation;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await Receiver.start();
  installation = await Installation.start(3, undefined, { PHALANX_WEBHOOK_NETWORKS: '127.0.0.2' });
});
afterAll(async () => {
  await receiver.close();
  await installation.stop();
});

async function makeProject(name: string, content: string): Promise<string> {
  const { api } = installation;
  const { project } = await api.call(projectRoutes.create, { body: { name } });
  await api.call(fileRoutes.write, { params: { id: project.id }, body: { path: 'main.ts', content } });
  return project.id;
}

const Project = Compile(Type.Object({ project: Type.Object({ id: Type.String() }) }));
const JobReply = Compile(Type.Object({ job: Job }));
const TasksReply = Compile(
  Type.Object({ tasks: Type.Array(Task), next_cursor: Type.Union([Type.String(), Type.Null()]) }),
);

type Get = (path: string) => Promise<unknown>;

const untilEnded = (get: Get, id: string): Promise<Job> =>
  until(
    'the end of the job',
    async () => JobReply.Parse(await get(`/api/v2/jobs/${id}`)).job,
    ({ ended_at }) => ended_at !== null,
    timeLimitMs,
  );

async function listTasks(get: Get, id: string): Promise<Task[]> {
  const all: Task[] = [];
  for (let from: string | null = ''; from !== null;) {
    const path: string = `/api/v2/jobs/${id}/tasks?limit=1000${from && `&cursor=${from}`}`;
    const { tasks, next_cursor } = TasksReply.Parse(await get(path));
    all.push(...tasks);
    from = next_cursor;
  }
  return all;
}

/** Requires that each row was done once, and that repeated attempts have a reason. Returns all runs. */
async function requireWhole(get: Get, id: string): Promise<{ tasks: Task[]; runIds: Set<string> }> {
  await untilEnded(get, id);
  const tasks = await listTasks(get, id);
  expect(tasks.filter(({ status }) => status !== 'completed')).toEqual([]);
  expect(tasks.map(({ input }) => input)).toEqual(inputs);
  for (const { attempts } of tasks) {
    expect(attempts.at(-1)?.reason).toBe('completed');
    for (const { reason } of attempts.slice(0, -1)) expect(reason).toMatch(/^(phone|lost): /);
  }
  const runIds = tasks.flatMap(({ attempts }) => attempts.map(({ run_id }) => run_id));
  expect(new Set(runIds).size).toBe(runIds.length);
  const again = runIds.length - tasks.length;
  console.log(`${rounds} kills, ${tasks.length} tasks, ${again} of them begun again with a reason`);
  return { tasks, runIds: new Set(runIds) };
}

/**
 * Kills the server after it has sent the end of a run and before it receives the reply. Runs that end in the meantime
 * are reported to the next server.
 */
async function killBeforeAnswer(readJob: () => Promise<Job>): Promise<void> {
  receiver.habit = () => undefined;
  const before = receiver.received.length;
  const isSent = async (): Promise<boolean> =>
    receiver.received.length > before || (await readJob()).ended_at !== null;
  await until('a delivery', isSent, Boolean, timeLimitMs);
  await installation.server.end('SIGKILL');
  receiver.habit = answer(200);
  await installation.restartServer();
}

async function killHost(readJob: () => Promise<Job>): Promise<void> {
  // Runs continue without the server: only the end of their host ends them.
  const isBusy = ({ tasks, ended_at }: Job): boolean => tasks.running > 0 || ended_at !== null;
  await until('a run on the host', readJob, isBusy, timeLimitMs);
  await installation.host.end('SIGKILL');
  installation.restartHost();
}

async function listDeliveries(api: ApiClient, id: string): Promise<WebhookDelivery[]> {
  const all: WebhookDelivery[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const query = cursor === undefined ? {} : { cursor };
    const page = await api.call(webhookRoutes.listDeliveries, { params: { id }, query });
    all.push(...page.deliveries);
    cursor = page.next_cursor;
  }
  return all;
}

test(
  'over kill -9 of server and host no task and no end of a run is lost, and none begins twice without a reason in its attempts',
  async () => {
    const { api } = installation;
    const hook = { url: receiver.url, events: ['run.ended' as const] };
    const { webhook, secret } = await api.call(webhookRoutes.create, { body: hook });
    // Each kill of the host hits the oldest tasks, which may be the same ones repeatedly.
    const { job } = await api.call(jobRoutes.create, {
      body: {
        automation_id: await makeProject('rows', code),
        selector: 'state=ready',
        inputs,
        retries: { most: 20, on: ['lost', 'phone'] },
      },
    });
    const readJob = async (): Promise<Job> => (await api.call(jobRoutes.get, { params: { id: job.id } })).job;
    for (let round = 1; round <= rounds; round += 1) {
      // On a slow machine the host would otherwise never reconnect before the next kill, and nothing would run.
      await installation.readyDevices();
      await sleep(Math.random() * 600);
      await (round % 4 === 0 ? killHost(readJob) : killBeforeAnswer(readJob));
    }
    const headers = { authorization: `Bearer ${installation.callerSettings['PHALANX_TOKEN']}` };
    const get: Get = async (path) => (await fetch(`${installation.url}${path}`, { headers })).json();
    const { tasks, runIds } = await requireWhole(get, job.id);
    expect(tasks.map(({ result }) => result)).toEqual(inputs);

    const isToldOf = (deliveries: WebhookDelivery[]): boolean =>
      deliveries.length === runIds.size && deliveries.every(({ status }) => status === 'delivered');
    await until('all deliveries', () => listDeliveries(api, webhook.id), isToldOf, timeLimitMs);
    const told = [...runIds].map((runId) => receiver.about('run_id', runId));
    for (const messages of told) {
      expect(new Set(messages.map(({ signed }) => signed['webhook-id'])).size).toBe(1);
      for (const { text, signed } of messages) new Checker(secret ?? '').verify(text, signed);
    }
    // At least one message was sent twice, because its delivery was uncertain.
    expect(told.some(({ length }) => length > 1)).toBe(true);
  },
  timeLimitMs,
);

/** Each run does tasks until none is left; the first one adds two. */
const manyTasks = `
const { job } = agent.utils;
let input = agent.arguments.jobVariables;
for (;;) {
  if (input.row === 1) {
    const added = await job.addSubTasks([{ row: 101 }, { row: 102 }]);
    if (!added.success) throw new Error(added.error);
    console.log(Object.keys((await job.getSubTasks(added.inserted_ids.map((one) => one.planned_task_id))).tasks ?? {}).length);
  }
  await job.submitTask('running', { so: 'far' }, false);
  await agent.actions.sleep(200);
  const file = { name: 'proof', extension: 'txt', base64Data: btoa('row ' + input.row) };
  const submitted = input.row === 3
    ? await job.submitTask('declined', { row: input.row })
    : await job.submitTask('success', { row: input.row }, true, [file]);
  if (!submitted.success) throw new Error(submitted.error);
  if ((await job.submitTask('success', { row: 'again' })).success) throw new Error('twice');
  const next = await job.useAnotherTask();
  if (next === null) break;
  input = JSON.parse(next.job_proof);
}`;

test(
  'runs do several tasks each, add others, and lose nothing over a cut connection and the kill of server and host',
  async () => {
    const { api } = installation;
    await installation.readyDevices();
    const automation_id = await makeProject('many rows a run', manyTasks);
    const rows = Array.from({ length: 20 }, (_, row) => ({ row }));
    const body = { automation_id, selector: 'state=ready', inputs: rows };
    const { job } = await api.call(jobRoutes.create, { body });
    const readJob = async (): Promise<Job> => (await api.call(jobRoutes.get, { params: { id: job.id } })).job;
    const completed = (minCount: number): Promise<Job> =>
      until(`${minCount} completed tasks`, readJob, ({ tasks }) => tasks.completed >= minCount, timeLimitMs);
    await completed(3);
    installation.cable.cut();
    await completed(6);
    await installation.server.end('SIGKILL');
    await installation.restartServer();
    await completed(9);
    await installation.host.end('SIGKILL');
    installation.restartHost();
    const ended = await until(
      'the end of the job',
      readJob,
      ({ ended_at }) => ended_at !== null,
      timeLimitMs,
    );
    const { tasks } = await api.call(jobRoutes.listTasks, { params: { id: job.id }, query: { limit: 1000 } });
    const rowOf = ({ input }: Task): unknown => input?.['row'];
    // An attempt that is interrupted after it has added tasks adds them again in the next attempt.
    const added = tasks.slice(rows.length).map(rowOf);
    const times = added.length / 2;
    expect(times).toBeLessThanOrEqual(tasks[1]?.attempts.length ?? 0);
    expect(added).toEqual(Array.from({ length: Math.max(1, times) }, () => [101, 102]).flat());
    expect(tasks.slice(0, rows.length).map(rowOf)).toEqual(rows.map(({ row }) => row));
    const done = rows.length - 1 + added.length;
    expect(ended.tasks).toEqual({ waiting: 0, running: 0, completed: done, failed: 1, cancelled: 0 });
    for (const task of tasks) expect(task.result).toEqual({ row: rowOf(task) });
    const [, parent, , declined] = tasks;
    expect(tasks.slice(-2).map(({ parent_id }) => parent_id)).toEqual([parent?.id, parent?.id]);
    expect(declined?.error?.code).toBe('task_declined');
    const runIds = new Set(tasks.flatMap(({ attempts }) => attempts.map(({ run_id }) => run_id)));
    expect(runIds.size).toBeLessThan(tasks.length);
    const [last] = tasks.slice(-1);
    const { files } = await api.call(runRoutes.files, { params: { id: last?.run_id ?? '' } });
    expect(files.map(({ name }) => name)).toContain(`${last?.number}-proof.txt`);
  },
  timeLimitMs,
);

test.skipIf(!isClusterHere)(
  'over kill -9 of one of three servers neither',
  async () => {
    const random = new SeededRandom(Date.now());
    const cluster = await Cluster.start(3);
    cleanUps.push(() => cluster.stop());
    const { urls, token } = cluster;
    const hosts = Array.from({ length: 3 }, (_, no) => {
      const serials = Array.from({ length: 4 }, (__, at) => `phone-${no}-${at}`);
      return new SimulatedHost({ urls, token, serials, random });
    });
    cleanUps.push(() => Promise.all(hosts.map((host) => host.stop())));
    const api = new BalancedApi(urls, token, random);
    const { body: made } = await api.call('POST', projectRoutes.create.path, { name: 'rows' });
    const { id } = Project.Parse(made).project;
    await api.call('PUT', fileRoutes.write.path.replace(':id', id), { path: 'main.ts', content: code });
    const body = { automation_id: id, selector: 'sdk>=1', inputs, key: 'rows' };
    const { job } = JobReply.Parse((await api.call('POST', jobRoutes.create.path, body)).body);
    for (let round = 1; round <= rounds; round += 1) {
      await sleep(700 + random.below(600));
      const server = random.pick(cluster.servers);
      await cluster.kill(server);
      await cluster.restart(server);
    }
    const { runIds } = await requireWhole(async (path) => (await api.call('GET', path)).body, job.id);
    for (const host of hosts) {
      expect(host.violations).toEqual([]);
      for (const runId of host.begun.keys()) expect(runIds.has(runId), runId).toBe(true);
    }
  },
  timeLimitMs,
);
