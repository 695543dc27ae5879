/** Counts per app version when the server is killed at any moment. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AppVersionFigures, driftRoutes, type RecordReport } from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { afterAll, expect, it } from 'vitest';

import { TestProject } from '../../../code/projects/testing/test-projects.ts';
import { createApiCaller } from '../../../testing/api-caller.ts';
import { recordReport, sendReport } from '../../../testing/records/record-reports.ts';
import { stringAt } from '../../../testing/string-at.ts';
import { spawnServer as startProcess } from '../../../testing/spawn-server.ts';
import { TestHost } from '../../../testing/test-host.ts';
import { adminToken } from '../../../testing/test-server.ts';

const serials = Array.from({ length: 12 }, (_, index) => `serial-${index}`);
const app = { package: 'com.example.shop', version: '8.1.2' };
const figuresCheck = Compile(Type.Array(AppVersionFigures));
const cleanUps: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

async function spawnServer(dataDir: string): ReturnType<typeof startProcess> {
  const started = await startProcess(dataDir);
  cleanUps.push(async () => started.child.kill('SIGKILL'));
  return started;
}

it('each run and each record is counted once, whenever the server is killed', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'phalanx-drift-'));
  cleanUps.push(() => rm(dataDir, { recursive: true, force: true }));
  let server = await spawnServer(dataDir);
  const host = await TestHost.connected({ url: server.url, token: adminToken, serials });
  const api = () => createApiCaller(server.url, adminToken);
  const devices = (await api()('GET', '/api/v2/devices')).body['devices'] as unknown[];
  const device_ids = devices.map((device) => stringAt(device, 'device_id'));
  const project = await TestProject.create(api());
  await project.put('main.ts', 'console.log(1);');
  let expected = 0;
  for (const killAfterMs of [0, 4, 10, 25, 60]) {
    const body = { device_ids, automationId: project.id, command: 'start' };
    const { status, text } = await api()('POST', '/api/v2/devices/launchAutomation', { body });
    expect(status, text).toBe(200);
    const runs = host.messages('launch').at(-1)?.runs ?? [];
    const records: RecordReport[] = runs.map(({ run_id: runId }) =>
      recordReport(runId, { app: { ...app, activity: null, language: null } }),
    );
    for (const [index, { run_id: runId }] of runs.entries()) {
      host.send({ type: 'record', record: records[index] });
      host.report(runId, 'completed', { app, outcome: 'out_of_steps' });
    }
    await pause(killAfterMs);
    const exited = once(server.child, 'exit');
    server.child.kill('SIGKILL');
    await exited;
    await host.cut();
    server = await spawnServer(dataDir);
    host.url = server.url;
    await host.connect();
    for (const record of records) await sendReport(host, record);
    expected += serials.length;
    const figures = async () => {
      const reply = await api()('GET', driftRoutes.get.path.replace(':id', project.id));
      if (!figuresCheck.Check(reply.body['versions'])) throw new Error(reply.text);
      return reply.body['versions'].map(({ runs: all, bad_runs: bad, records: count }) => [all, bad, count]);
    };
    await expect.poll(figures, { timeout: 20_000 }).toEqual([[expected, expected, expected]]);
  }
  await host.cut();
});
