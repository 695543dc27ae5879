import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { ApiClient } from '@phalanx/client/api-client';
import { until } from '@phalanx/host/testing/until';
import { commitRoutes, fileRoutes, projectRoutes, recordRoutes } from '@phalanx/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { Installation } from './support/installation.ts';
import { Program } from './support/program.ts';
import { RepeatedWork } from './support/repeated-work.ts';

const sample = new URL('../apps/cli/samples/out-of-steps.ts', import.meta.url);

let installation: Installation;
let folder: string;
let dataDir: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'phalanx-backup-'));
  dataDir = path.join(folder, 'data');
  installation = await Installation.start(1, dataDir);
});
afterAll(async () => {
  await installation.stop();
  await rm(folder, { recursive: true, force: true });
});

async function phalanx(...commandLine: string[]): Promise<{ code: number | null; output: string }> {
  const program = new Program(commandLine, {});
  await program.exited;
  return { code: program.exitCode, output: program.output };
}

/** Returns the contents of the captures of the only record of `automationId`. */
async function capturesOf(api: ApiClient, automationId: string): Promise<Buffer[] | undefined> {
  const { result } = await api.call(recordRoutes.list, { query: { automation_id: automationId } });
  if (result === null || result.partial) return undefined;
  const urls = result.screens.flatMap(({ uiUrl, screenshot }) => [uiUrl, screenshot.screenshotUrl]);
  return Promise.all(
    urls.map(async (url) => {
      const reply = await fetch(url ?? '');
      expect(reply.status).toBe(200);
      return Buffer.from(await reply.arrayBuffer());
    }),
  );
}

async function readFileOf(api: ApiClient, id: string, name: string): Promise<string> {
  const { content } = await api.call(fileRoutes.read, { params: { id }, query: { path: name } });
  return content;
}

test('a backup of a service that writes is restored elsewhere with all that was stored before it', async () => {
  const { api } = installation;
  const deviceId = (await installation.readyDevices())[0]?.device_id ?? '';
  const launchId = await installation.launch(deviceId, await readFile(sample, 'utf8'));
  const { run_id: runId } = await installation.endedRun(launchId);
  const captures = await until('the captures', () => capturesOf(api, launchId), Boolean, 60_000);
  const { project } = await api.call(projectRoutes.create, { body: { name: 'written while it is saved' } });
  const params = { id: project.id };
  const write = async (name: string, content: string): Promise<void> =>
    void (await api.call(fileRoutes.write, { params, body: { path: name, content } }));
  // Too large for a database row.
  const large = randomBytes(400_000).toString('base64');
  await write('large.txt', large);
  await api.call(commitRoutes.commit, { params, body: { message: 'with a large file' } });
  let stored = 0;
  const writing = new RepeatedWork();
  writing.begin(1, async () => {
    await write('count.txt', String(stored + 1));
    stored += 1;
  });
  await until(
    'some writes',
    () => stored,
    (count) => count > 10,
  );

  const storedBefore = stored;
  const archive = path.join(folder, 'monday.tar');
  expect(await phalanx('backup', archive, '--data-dir', dataDir)).toEqual({
    code: 0,
    output: expect.stringMatching(/Backed up \d+ files of .+ to .+monday\.tar/),
  });
  const storedAfter = stored;
  expect(storedAfter).toBeGreaterThan(storedBefore);
  await writing.end();
  await installation.server.end('SIGKILL');

  const restored = path.join(folder, 'restored');
  expect(await phalanx('restore', archive, '--data-dir', restored)).toMatchObject({ code: 0 });
  for (const checked of [restored, dataDir])
    expect(await phalanx('check', '--data-dir', checked)).toEqual({
      code: 0,
      output: expect.stringMatching(/ and 1 project: no problems\.\n$/),
    });
  const token = installation.callerSettings['PHALANX_TOKEN'] ?? '';
  const server = new Program(['server'], {
    PHALANX_LISTEN: '127.0.0.1:0',
    PHALANX_DATA_DIR: restored,
    PHALANX_ADMIN_TOKEN: token,
  });
  try {
    const [, url = ''] = await server.printed(/Phalanx server is at (\S+)/);
    const there = new ApiClient({ url, token, retryForMs: 0 });
    expect(await capturesOf(there, launchId)).toEqual(captures);
    expect(await readFileOf(there, project.id, 'large.txt')).toBe(large);
    const count = Number(await readFileOf(there, project.id, 'count.txt'));
    expect(count).toBeGreaterThanOrEqual(storedBefore);
    expect(count).toBeLessThanOrEqual(storedAfter + 1);
    const run = await there.call(recordRoutes.list, { query: { automation_id: launchId } });
    expect(run.result).toMatchObject({ run_id: runId });
    const clone = path.join(folder, 'clone');
    const from = `${url.replace('//', `//x:${token}@`)}/git/${project.id}.git`;
    await promisify(execFile)('git', ['clone', '--quiet', from, clone]);
    await promisify(execFile)('git', ['-C', clone, 'fsck', '--strict']);
    expect(await readFile(path.join(clone, 'large.txt'), 'utf8')).toBe(large);
  } finally {
    await server.end();
  }
});
