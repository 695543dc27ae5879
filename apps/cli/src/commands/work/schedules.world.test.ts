import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileRoutes, jobRoutes, projectRoutes, scheduleRoutes } from '@phalanx/protocol';
import { until } from '@phalanx/host/testing/until';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { TestService } from '../../testing/test-service.ts';

let service: TestService;
let projectId = '';

beforeAll(async () => {
  service = await TestService.start(1);
  projectId = (await service.api.call(projectRoutes.create, { body: { name: 'Nightly' } })).project.id;
  const main = { path: 'main.ts', content: "console.log('ran');" };
  await service.api.call(fileRoutes.write, { params: { id: projectId }, body: main });
});
afterAll(() => service.stop());

test('a schedule is made, run by hand while it is paused, and deleted, and its job stays', async () => {
  const create = ['schedules', 'create', projectId, '--name', 'nightly', '--paused'];
  const times = ['--cron', '0 2 * * *', '--time-zone', 'Europe/Berlin'];
  const made = await service.run([...create, ...times, '--labels', 'sdk>=1', '--count', '1']);
  expect(made).toMatchObject({ code: 0, stderr: '' });
  const { schedules } = await service.api.call(scheduleRoutes.list, { query: {} });
  expect(schedules).toMatchObject([{ name: 'nightly', paused: true, time_zone: 'Europe/Berlin' }]);
  const id = schedules[0]?.id ?? '';

  const run = await service.run(['schedules', 'run', id]);
  expect(run.code).toBe(0);
  const jobId = /^Job (\S+): "phalanx jobs show \1" shows it\.\n$/.exec(run.stdout)?.[1] ?? '';
  const { job } = await until(
    'the job',
    () => service.api.call(jobRoutes.get, { params: { id: jobId } }),
    (reply) => reply.job.status === 'completed',
  );
  expect(job).toMatchObject({ schedule_id: id, tasks: { completed: 1 } });
  const turns = await service.run(['schedules', 'turns', id]);
  expect(turns.stdout).toContain(jobId);

  expect((await service.run(['schedules', 'delete', id])).code).toBe(0);
  expect((await service.run(['jobs', 'show', jobId])).stdout).toContain(jobId);
  const unknown = await service.run(['schedules', 'run', id]);
  expect(unknown).toMatchObject({ code: 3, stderr: expect.stringContaining('was not found') });
});

test.each([
  ['is empty', 'name\n', 'no rows'],
  ['has a row with too many fields', 'name;city\nAda;Zürich;3\n', '2'],
])('a table of inputs that %s is refused with its name', async (_, text, reason) => {
  const file = path.join(service.folder, 'people.csv');
  await writeFile(file, text);
  const { code, stderr } = await service.run(['jobs', 'create', projectId, '--inputs', file]);
  expect(code).not.toBe(0);
  expect(stderr).toContain('people.csv');
  expect(stderr).toContain(reason);
});
