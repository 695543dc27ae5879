import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@phalanx/cli/testing/until';
import { fileRoutes, type Job, jobRoutes, projectRoutes } from '@phalanx/protocol';
import { afterEach, expect, test } from 'vitest';

import { Installation } from './support/installation.ts';

/** `KILL_ROUNDS=200 npm run test:engines -- tests/jobs` plays longer. */
const rounds = Number(process.env['KILL_ROUNDS'] ?? '4');
const rowsARound = 12;
const timeLimitMs = 120_000 + rounds * 30_000;

const code = `
const { row } = agent.arguments.jobVariables as { row: number };
await agent.actions.sleep(300);
agent.control.setResult({ row });`;

let installation: Installation;

afterEach(() => installation.stop());

async function makeProject(): Promise<string> {
  const { api } = installation;
  const { project } = await api.call(projectRoutes.create, { body: { name: 'rows' } });
  await api.call(fileRoutes.write, { params: { id: project.id }, body: { path: 'main.ts', content: code } });
  return project.id;
}

const readJob = async (id: string): Promise<Job> =>
  (await installation.api.call(jobRoutes.get, { params: { id } })).job;

test(
  'over kill -9 of server and host no task is lost, and none begins twice without a reason in its attempts',
  async () => {
    installation = await Installation.start(3);
    const inputs = Array.from({ length: rounds * rowsARound }, (_, row) => ({ row }));
    const body = { automation_id: await makeProject(), selector: 'state=ready', inputs };
    const { job } = await installation.api.call(jobRoutes.create, { body });
    for (let round = 1; round <= rounds; round += 1) {
      await sleep(700 + Math.random() * 600);
      if (round % 4 === 0) {
        await installation.host.end('SIGKILL');
        installation.restartHost();
      } else {
        await installation.server.end('SIGKILL');
        await installation.restartServer();
      }
    }
    const ended = await until(
      'the end of the job',
      () => readJob(job.id),
      ({ ended_at }) => ended_at !== null,
      timeLimitMs,
    );
    expect(ended.tasks).toEqual({
      waiting: 0,
      running: 0,
      completed: inputs.length,
      failed: 0,
      cancelled: 0,
    });
    const query = { limit: 1000 };
    const { tasks } = await installation.api.call(jobRoutes.listTasks, { params: { id: job.id }, query });
    expect(tasks.map(({ result }) => result)).toEqual(inputs);
    for (const { attempts } of tasks) {
      expect(attempts.at(-1)?.reason).toBe('completed');
      for (const { reason } of attempts.slice(0, -1)) expect(reason).toMatch(/^(phone|lost): /);
    }
    const runIds = tasks.flatMap(({ attempts }) => attempts.map(({ run_id }) => run_id));
    expect(new Set(runIds).size).toBe(runIds.length);
  },
  timeLimitMs,
);
