import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ApiClient } from '@phalanx/client/api-client';
import { until } from '@phalanx/host/testing/until';
import { deviceRoutes, fileRoutes, launchRoutes, projectRoutes } from '@phalanx/protocol';
import { freePort } from '@phalanx/simulated-phone/testing/free-port';
import { expect, onTestFinished, test } from 'vitest';
import { TestHost } from '../apps/server/src/testing/test-host.ts';
import { Program } from './support/program.ts';

const token = 'administrator-token-of-this-test-0123456789';

test('--follow-forever prints the lines of all runs once, also a late one of an earlier run', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'phalanx-forever-'));
  const listen = `127.0.0.1:${await freePort()}`;
  const url = `http://${listen}`;
  const server = new Program(['server'], {
    PHALANX_LISTEN: listen,
    PHALANX_DATA_DIR: path.join(folder, 'data'),
    PHALANX_ADMIN_TOKEN: token,
    HOME: folder,
  });
  await server.printed(/Phalanx server is at/);
  const host = await TestHost.connected({ url, token, launchHabit: 'silent' });
  const caller = { PHALANX_SERVER_URL: url, PHALANX_TOKEN: token, HOME: folder };
  onTestFinished(async () => {
    await host.cut();
    await server.end();
    await rm(folder, { recursive: true });
  });

  const api = new ApiClient({ url, token, retryForMs: 0 });
  const { project } = await api.call(projectRoutes.create, { body: { name: 'followed' } });
  const code = { path: 'main.ts', content: "console.log('from the wire');" };
  await api.call(fileRoutes.write, { params: { id: project.id }, body: code });
  const { devices } = await api.call(deviceRoutes.list, {});
  const body = {
    device_ids: devices.map(({ device_id }) => device_id),
    automationId: project.id,
    command: 'start',
  } as const;
  const startRun = async (): Promise<string> => {
    const launched = host.waitFor('launch');
    const launching = api.call(launchRoutes.launch, { body });
    const runId = (await launched).runs[0]?.run_id ?? '';
    host.report(runId, 'running');
    await launching;
    return runId;
  };

  const first = await startRun();
  await host.log(first, ['first 1']);
  const following = new Program(['logs', 'serial-1', 'followed', '--follow-forever'], caller);
  onTestFinished(() => following.end());
  await following.printed(/first 1/);
  await host.log(first, ['first 2']);
  await host.end(first, 'completed', { log_left: true });
  const second = await startRun();
  await host.log(second, ['second 1']);
  await following.printed(/second 1/);
  await host.log(first, ['first 3, late']);
  await host.log(second, ['second 2']);
  await following.printed(/second 2/);
  const printed = (): string[] =>
    [...following.output.matchAll(/(first|second) \d.*/g)].map(([line]) => line);
  await until('all lines', printed, ({ length }) => length >= 5);
  expect(printed()).toEqual(['first 1', 'first 2', 'second 1', 'first 3, late', 'second 2']);
});
