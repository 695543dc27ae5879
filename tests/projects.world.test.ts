import { commitRoutes, fileRoutes, launchRoutes, projectRoutes, runRoutes } from '@phalanx/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { Installation } from './support/installation.ts';
import { LogReader } from './support/log-reader.ts';
import { manyFilesProject, markedLine } from './support/many-files-project.ts';

let installation: Installation;
let deviceIds: string[];

beforeAll(async () => {
  installation = await Installation.start(3);
  deviceIds = (await installation.readyDevices()).map((device) => device.device_id);
});
afterAll(() => installation.stop());

async function createProject(files: Readonly<Record<string, string>>): Promise<string> {
  const { project } = await installation.api.call(projectRoutes.create, {
    body: { name: `tested ${crypto.randomUUID()}` },
  });
  for (const [path, content] of Object.entries(files)) {
    await installation.api.call(fileRoutes.write, { params: { id: project.id }, body: { path, content } });
  }
  return project.id;
}

async function start(projectId: string, parameters: Record<string, unknown> = {}): Promise<void> {
  await installation.api.call(launchRoutes.launch, {
    body: {
      device_ids: deviceIds,
      automationId: projectId,
      command: 'start',
      automationParameters: parameters,
      jobVariables: { job: 7 },
    },
  });
}

async function readOn(deviceId: string, projectId: string): Promise<LogReader> {
  const reader = new LogReader(installation, { deviceId, launchId: projectId });
  await reader.readToEnd();
  return reader;
}

async function endedRuns(projectId: string) {
  for (const deviceId of deviceIds) await readOn(deviceId, projectId);
  return (await installation.api.call(runRoutes.list, { query: { automation_id: projectId } })).runs;
}

test('a project of 30 files runs on three phones at once, and its lines are those of its TypeScript files', async () => {
  const files = manyFilesProject();
  expect(Object.keys(files)).toHaveLength(30);
  const projectId = await createProject(files);
  await start(projectId, { greeting: 'Hello' });
  const runs = await endedRuns(projectId);
  expect(runs.map((run) => [run.status, run.error, run.dirty])).toEqual(
    deviceIds.map(() => ['completed', null, true]),
  );
  for (const deviceId of deviceIds) {
    const { entries } = await readOn(deviceId, projectId);
    expect(entries.map(({ message, lineNumber }) => ({ message, lineNumber }))).toEqual([
      { message: 'sum of the parts: 300', lineNumber: markedLine(files, 'sum.ts') },
      { message: 'circular: even', lineNumber: markedLine(files, 'even.ts') },
      { message: 'decorated: [greet] Hello, 7', lineNumber: markedLine(files, 'greeter.ts') },
      { message: 'enum: Blue, JSON: 42, awaited: ready', lineNumber: markedLine(files, 'main.ts') },
    ]);
  }
});

test('an error in an imported file is told with the lines of both files, and the commit that ran', async () => {
  const projectId = await createProject({
    'lib/fail.ts': 'export function fail(what: string): never {\n  throw new RangeError(what);\n}\n',
    'main.ts': "import { fail } from './lib/fail.ts';\n\nfail('too far');\n",
  });
  const { commit } = await installation.api.call(commitRoutes.commit, {
    params: { id: projectId },
    body: { message: 'first version' },
  });
  await start(projectId);
  const [run] = await endedRuns(projectId);
  expect(run).toMatchObject({ status: 'failed', commit: commit.hash, dirty: false });
  const { entries } = await readOn(deviceIds[0] ?? '', projectId);
  expect(entries[0]?.message).toMatch(/RangeError: too far[^]*lib\/fail\.ts:2:\d+[^]*main\.ts:3:\d+/);
});

test('parameters are checked against the schema of the project, and its defaults filled in', async () => {
  const projectId = await createProject({
    'parameters.schema.json': JSON.stringify({
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string' }, count: { type: 'integer', default: 5 } },
    }),
    'main.ts': 'console.log(JSON.stringify(agent.arguments.automationParameters));',
  });
  await expect(start(projectId, { count: 1 })).rejects.toThrow(/must have required property 'name'/);
  await start(projectId, { name: 'x' });
  await endedRuns(projectId);
  const { entries } = await readOn(deviceIds[1] ?? '', projectId);
  expect(entries.map((entry) => entry.message)).toEqual(['{"name":"x","count":5}']);
});

test('a project that runs on one of the devices is not started again, and a stop ends it on all of them', async () => {
  const projectId = await createProject({ 'main.ts': 'while (true) await agent.actions.sleep(50);' });
  await start(projectId);
  await expect(start(projectId)).rejects.toThrow(/already runs on/);
  const stop = { device_ids: deviceIds, automationId: projectId, command: 'stop' as const };
  expect(await installation.api.call(launchRoutes.launch, { body: stop })).toMatchObject({
    message: 'Stopped on 3 devices.',
  });
  expect((await endedRuns(projectId)).map((run) => run.status)).toEqual(['stopped', 'stopped', 'stopped']);
  expect(await installation.api.call(launchRoutes.launch, { body: stop })).toMatchObject({
    message: expect.stringContaining('Nothing to stop'),
  });
});

test('one unknown device among the devices means that nothing is launched', async () => {
  const projectId = await createProject({ 'main.ts': 'console.log(1)' });
  const body = { device_ids: [...deviceIds, 'nobody'], automationId: projectId, command: 'start' as const };
  await expect(installation.api.call(launchRoutes.launch, { body })).rejects.toThrow(
    'Some devices offline or not found: nobody (not found).',
  );
  const { runs } = await installation.api.call(runRoutes.list, { query: { automation_id: projectId } });
  expect(runs).toEqual([]);
});
