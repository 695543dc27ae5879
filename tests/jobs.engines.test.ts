import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@phalanx/host/testing/until';
import { fileRoutes, Job, jobRoutes, projectRoutes, Task } from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { afterEach, expect, test } from 'vitest';

import { BalancedApi } from './cluster/balanced-api.ts';
import { Cluster } from './cluster/cluster.ts';
import { SimulatedHost } from './cluster/simulated-host.ts';
import { Installation } from './support/installation.ts';
import { SeededRandom } from './support/seeded-random.ts';

/** `KILL_ROUNDS=200 npm run test:engines -- tests/jobs.engines` plays longer. */
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

async function makeProject({ api }: Installation): Promise<string> {
  const { project } = await api.call(projectRoutes.create, { body: { name: 'rows' } });
  await api.call(fileRoutes.write, { params: { id: project.id }, body: { path: 'main.ts', content: code } });
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

/** Each row was done once, and what was begun more than once says why. Returns all runs. */
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

test(
  'over kill -9 of server and host no task is lost, and none begins twice without a reason in its attempts',
  async () => {
    const installation = await Installation.start(3);
    cleanUps.push(() => installation.stop());
    // Each kill of the host takes the oldest tasks, which may be the same ones again and again.
    const { job } = await installation.api.call(jobRoutes.create, {
      body: {
        ...{ automation_id: await makeProject(installation), selector: 'state=ready', inputs },
        retries: { most: 20, on: ['lost', 'phone'] },
      },
    });
    for (let round = 1; round <= rounds; round += 1) {
      // On a slow machine the host would never be back before the next kill, and nothing would run.
      await installation.readyDevices();
      await sleep(700 + Math.random() * 600);
      if (round % 4 === 0) {
        // What runs on a host goes on without the server: only the host's own end takes runs away.
        const read = async (): Promise<Job> =>
          (await installation.api.call(jobRoutes.get, { params: { id: job.id } })).job;
        const isBusy = ({ tasks, ended_at }: Job): boolean => tasks.running > 0 || ended_at !== null;
        await until('a run on the host', read, isBusy, timeLimitMs);
        await installation.host.end('SIGKILL');
        installation.restartHost();
      } else {
        await installation.server.end('SIGKILL');
        await installation.restartServer();
      }
    }
    const headers = { authorization: `Bearer ${installation.callerSettings['PHALANX_TOKEN']}` };
    const get: Get = async (path) => {
      const response = await fetch(`${installation.url}${path}`, { headers });
      return response.json();
    };
    const { tasks } = await requireWhole(get, job.id);
    expect(tasks.map(({ result }) => result)).toEqual(inputs);
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
