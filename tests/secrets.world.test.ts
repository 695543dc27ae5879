/** 1,000 secrets of ten projects: their runs have them, and they are in clear nowhere else. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';

import { fileRoutes, isEnded, launchRoutes, projectRoutes, runRoutes, secretRoutes } from '@phalanx/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { Installation } from './support/installation.ts';
import { family } from './support/processes.ts';

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
  throw new Error(await agent.secrets.get('SECRET_3'));`;

let installation: Installation;
let deviceId: string;
const seen: string[] = [];

beforeAll(async () => {
  installation = await Installation.start(1);
  deviceId = (await installation.readyDevices())[0]?.device_id ?? '';
});
afterAll(() => installation.stop());

const valueOf = (project: number, n: number): string => `${mark}-${project}-${n}-${crypto.randomUUID()}`;

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
  const body = { device_ids: [deviceId], automationId: params.id, command: 'start' as const };
  await api.call(launchRoutes.launch, { body });
  const query = { automation_id: params.id };
  const find = async () => (await api.call(runRoutes.list, { query })).runs[0];
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
  seen.push(JSON.stringify(await installation.api.call(runRoutes.list, { query: {} })));
  expect(seen.filter((text) => text.includes(mark))).toEqual([]);
  const files = await readAll(installation.folder);
  expect(files.length).toBeGreaterThan(5);
  expect(files.filter(([, bytes]) => bytes.includes(mark)).map(([file]) => file)).toEqual([]);
  expect(installation.server.output + installation.host.output).not.toContain(mark);
});
