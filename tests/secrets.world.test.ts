/** 1,000 secrets of ten projects: their runs have them, and they are in clear nowhere else. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';

import {
  auditRoutes,
  fileRoutes,
  isEnded,
  jobRoutes,
  launchRoutes,
  projectRoutes,
  runRoutes,
  secretRoutes,
  webhookRoutes,
} from '@phalanx/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { Receiver } from '../apps/server/src/webhooks/testing/receiver.ts';
import { Installation } from './support/installation.ts';
import { family } from './support/processes.ts';
import { Program } from './support/program.ts';

const projects = 10;
const secretsEach = 100;
/** In no other text of the service. */
const mark = 'planted-4f1c';

const main = `
  let length = 0;
  for (let n = 0; n < ${secretsEach}; n += 1) {
    const value = await agent.secrets.get('SECRET_' + n);
    length += value.length;
    console.log(n, value, { value });
  }
  agent.control.setResult({ length, last: await agent.secrets.get('SECRET_99') });
  await agent.actions.launchApp('dev.phalanx.sample.form');
  await (await agent.actions.waitForId('name')).tap();
  await agent.actions.writeText(await agent.secrets.get('SECRET_0'));
  await agent.utils.outOfSteps.storeScreen(
    await agent.actions.screenContent(), await agent.secrets.get('SECRET_1'), 'Form', 1, ScreenshotRecord.LOW_QUALITY);
  await agent.utils.outOfSteps.submit('debug', await agent.secrets.get('SECRET_2'));
  await agent.actions.clearText();
  await agent.run.attach('typed.txt', 'it was ' + await agent.secrets.get('SECRET_4'));
  if (agent.arguments.jobVariables.row !== undefined) {
    await agent.utils.job.addSubTasks([{ word: await agent.secrets.get('SECRET_5') }]);
    await agent.utils.job.submitTask('failed', { word: await agent.secrets.get('SECRET_6') });
  }
  throw new Error(await agent.secrets.get('SECRET_3'));`;

let installation: Installation;
let receiver: Receiver;
let deviceId: string;
const seen: string[] = [];
const jobIds: string[] = [];

beforeAll(async () => {
  receiver = await Receiver.start();
  installation = await Installation.start(1, undefined, { PHALANX_WEBHOOK_NETWORKS: '127.0.0.2' });
  deviceId = (await installation.readyDevices())[0]?.device_id ?? '';
});
afterAll(async () => {
  await installation.stop();
  await receiver.close();
});

const valueOf = (project: number, n: number): string => `${mark}-${project}-${n}-${crypto.randomUUID()}`;

/** Every other project by a job. */
async function begin(project: number, id: string): Promise<void> {
  const { api } = installation;
  const device_ids = [deviceId];
  if (project % 2 === 0) {
    const body = { device_ids, automationId: id, command: 'start' as const };
    await api.call(launchRoutes.launch, { body });
    return;
  }
  const body = { device_ids, automation_id: id, inputs: [{ row: project }], retries: 0 };
  jobIds.push((await api.call(jobRoutes.create, { body })).job.id);
}

async function runWithSecrets(project: number): Promise<string> {
  const { api } = installation;
  const params = {
    id: (await api.call(projectRoutes.create, { body: { name: `p ${project}` } })).project.id,
  };
  await api.call(fileRoutes.write, { params, body: { path: 'main.ts', content: main } });
  for (let n = 0; n < secretsEach; n += 1)
    await api.call(secretRoutes.put, {
      params: { ...params, name: `SECRET_${n}` },
      body: { value: valueOf(project, n) },
    });
  await begin(project, params.id);
  const query = { automation_id: params.id };
  // The oldest: a job's task adds a second one, whose run begins when this has ended.
  const find = async () => (await api.call(runRoutes.list, { query })).runs.at(-1);
  const ended = async () => {
    seen.push(
      family(process.pid)
        .map(({ command }) => command)
        .join('\n'),
    );
    return isEnded((await find())?.status ?? 'starting');
  };
  await expect.poll(ended).toBe(true);
  return (await find())?.run_id ?? '';
}

function unpacked(bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes);
  } catch {
    return bytes;
  }
}

/** Every file of the folders, unpacked where it is compressed. */
async function readAll(folder: string): Promise<[string, Buffer][]> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.join(parentPath, name));
  return Promise.all(
    files.map(async (file) => {
      const bytes = await readFile(file).catch(() => Buffer.alloc(0));
      return [file, unpacked(bytes)] as [string, Buffer];
    }),
  );
}

test('1,000 values reach the runs, and no file, reply or process list has one of them', async () => {
  const { api } = installation;
  const hook = { url: receiver.url, events: ['run.ended' as const] };
  await api.call(webhookRoutes.create, { body: hook });
  for (let project = 0; project < projects; project += 1) {
    const id = await runWithSecrets(project);
    const { run } = await installation.api.call(runRoutes.get, { params: { id } });
    const { logs } = await installation.api.call(runRoutes.logs, { params: { id }, query: {} });
    expect(run.result).toEqual({ length: expect.any(Number), last: '[secret]' });
    expect(logs.filter(({ message }) => message.includes('[secret]')).length).toBeGreaterThanOrEqual(
      secretsEach,
    );
    seen.push(JSON.stringify([run, logs]));
  }
  seen.push(JSON.stringify(await api.call(runRoutes.list, { query: {} })));
  for (const id of jobIds) {
    const { tasks } = await api.call(jobRoutes.listTasks, { params: { id }, query: {} });
    expect(tasks[0]?.result).toEqual({ word: '[secret]' });
    expect(tasks[1]?.input).toEqual({ word: '[secret]' });
    seen.push(JSON.stringify(tasks), await api.text(jobRoutes.results, { params: { id }, query: {} }));
  }
  seen.push(JSON.stringify(await api.call(auditRoutes.list, { query: { limit: 1000 } })));
  await expect.poll(() => receiver.received.length).toBeGreaterThanOrEqual(projects);
  seen.push(...receiver.received.map(({ text }) => text));
  const data = path.join(installation.folder, 'server');
  const backup = new Program(['backup', path.join(installation.folder, 'all.tar'), '--data-dir', data], {});
  await backup.exited;
  expect(backup.exitCode, backup.output).toBe(0);
  expect(seen.filter((text) => text.includes(mark))).toEqual([]);
  const files = await readAll(installation.folder);
  expect(files.length).toBeGreaterThan(5);
  expect(files.filter(([, bytes]) => bytes.includes(mark)).map(([file]) => file)).toEqual([]);
  expect(installation.server.output + installation.host.output).not.toContain(mark);
});
