import { until } from '@phalanx/host/testing/until';
import { fileRoutes, type Job, jobRoutes, projectRoutes, runRoutes, type Task } from '@phalanx/protocol';
import { afterEach, expect, test } from 'vitest';

import { Installation } from './support/installation.ts';

const timeLimitMs = 180_000;
/** Each run does tasks until none is left; the first one adds two. */
const code = `
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

let installation: Installation;
afterEach(() => installation.stop());

test(
  'runs do several tasks each, add others, and lose nothing over a cut connection and the kill of server and host',
  async () => {
    installation = await Installation.start(2);
    const { api } = installation;
    const { project } = await api.call(projectRoutes.create, { body: { name: 'rows' } });
    await api.call(fileRoutes.write, {
      params: { id: project.id },
      body: { path: 'main.ts', content: code },
    });
    const inputs = Array.from({ length: 20 }, (_, row) => ({ row }));
    const body = { automation_id: project.id, selector: 'state=ready', inputs };
    const { job } = await api.call(jobRoutes.create, { body });
    const readJob = async (): Promise<Job> => (await api.call(jobRoutes.get, { params: { id: job.id } })).job;
    const completed = (least: number): Promise<Job> =>
      until(`${least} completed tasks`, readJob, ({ tasks }) => tasks.completed >= least, timeLimitMs);
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
    // An attempt that is cut short after it has added tasks adds them again in the next one.
    const added = tasks.slice(inputs.length).map(rowOf);
    const times = added.length / 2;
    expect(times).toBeLessThanOrEqual(tasks[1]?.attempts.length ?? 0);
    expect(added).toEqual(Array.from({ length: Math.max(1, times) }, () => [101, 102]).flat());
    expect(tasks.slice(0, inputs.length).map(rowOf)).toEqual(inputs.map(({ row }) => row));
    const done = inputs.length - 1 + added.length;
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
