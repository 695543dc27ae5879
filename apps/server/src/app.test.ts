import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { SettingError } from '@phalanx/settings';
import { afterEach, describe, expect, it } from 'vitest';

import { startServer } from './app.ts';
import { parseServerConfig } from './config.ts';
import { createApiCaller } from './testing/api-caller.ts';
import { databaseSettings, defaultEngine, engines } from './testing/engines/test-database.ts';
import { spawnServer as startProcess } from './testing/spawn-server.ts';
import { TestHost } from './testing/test-host.ts';
import { adminToken, startBody, TestServer } from './testing/test-server.ts';

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'phalanx-app-'));
  cleanUps.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const environment = async (
  dataDir: string,
  more: Record<string, string> = {},
  databases?: Record<string, string>,
): Promise<Record<string, string>> => ({
  PHALANX_LISTEN: '127.0.0.1:0',
  PHALANX_DATA_DIR: dataDir,
  PHALANX_ADMIN_TOKEN: adminToken,
  PHALANX_LOG_LEVEL: 'silent',
  ...(databases ?? (await databaseSettings(dataDir))),
  ...more,
});

async function spawnServer(dataDir: string, engine = defaultEngine): ReturnType<typeof startProcess> {
  const started = await startProcess(dataDir, engine);
  cleanUps.push(async () => started.child.kill('SIGKILL'));
  return started;
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

describe('a server that is killed', () => {
  it('still has every launch, run and log batch that it acknowledged', async () => {
    const dataDir = temporaryFolder();
    const acknowledged: { launchId: string; messages: string[] }[] = [];
    let deviceId = '';
    const host = new TestHost({ url: '', token: adminToken });
    for (let round = 0; round < 3; round += 1) {
      const { child, url } = await spawnServer(dataDir);
      const api = createApiCaller(url, adminToken);
      host.url = url;
      await host.connect();
      const { body } = await api('GET', '/api/v2/devices');
      const [device] = body['devices'] as { device_id: string }[];
      expect(deviceId === '' || deviceId === device?.device_id).toBe(true);
      deviceId = device?.device_id ?? '';
      for (const { launchId, messages } of acknowledged) {
        const logs = await api('POST', '/api/v2/devices/automationLogs', {
          body: { device_id: deviceId, automation_ids: [launchId] },
        });
        expect((logs.body['logs'] as { message: string }[]).map((log) => log.message)).toEqual(messages);
        const again = await api(
          'POST',
          '/api/v2/devices/launchDirectAutomation',
          startBody(deviceId, launchId),
        );
        expect(again.body).toMatchObject({ success: true, devices: [{ outcome: 'started' }] });
        const { body: runs } = await api('GET', `/api/v2/runs?automation_id=${launchId}`);
        expect(runs['runs']).toMatchObject([{ status: 'running' }]);
      }
      const launchId = crypto.randomUUID();
      // The phone has been silent for too long by now on a busy machine.
      await host.heartbeat();
      const started = await api(
        'POST',
        '/api/v2/devices/launchDirectAutomation',
        startBody(deviceId, launchId),
      );
      expect(started.status, started.text).toBe(200);
      const launch = host.messages('launch').find((message) => message.automation_id === launchId);
      const messages = [`round ${round}`, 'x'.repeat(10_000)];
      await host.log(launch?.runs[0]?.run_id ?? '', messages);
      acknowledged.push({ launchId, messages });
      await kill(child);
    }
    expect(host.messages('launch')).toHaveLength(3);
  });
});

describe('a start that can’t succeed', () => {
  it.each(engines.flatMap((engine) => (['this', 'another'] as const).map((where) => ({ engine, where }))))(
    'because a server in $where process has the data folder says so in one line, and harms nothing: $engine',
    async ({ engine, where }) => {
      const dataDir = temporaryFolder();
      const inHere = where === 'this' ? await TestServer.start({ dataDir, engine }) : undefined;
      if (inHere !== undefined) cleanUps.push(() => inHere.dispose());
      const first = inHere?.urls[0] ?? (await spawnServer(dataDir, engine)).url;
      const ownDatabase = await databaseSettings(temporaryFolder(), engine);
      const second = startServer(parseServerConfig(await environment(dataDir, {}, ownDatabase)));
      await expect(second).rejects.toThrow(SettingError);
      await expect(second).rejects.toThrow(`The folder ${dataDir} is in use by another server`);
      const reply = await createApiCaller(first, adminToken)('GET', '/api/v2/me');
      expect(reply.status).toBe(200);
    },
  );

  it('because its address is taken says so in one line, and lets go of the data folder', async () => {
    const first = await TestServer.start();
    cleanUps.push(() => first.dispose());
    const dataDir = temporaryFolder();
    const taken = await environment(dataDir, { PHALANX_LISTEN: new URL(first.url).host });
    await expect(startServer(parseServerConfig(taken))).rejects.toThrow(
      /^PHALANX_LISTEN 127\.0\.0\.1:\d+ is taken/,
    );
    const next = await startServer(parseServerConfig(await environment(dataDir)));
    await next.close();
  });
});

describe('the administrator’s token', () => {
  it('is made and shown once, on the first start with an empty folder', async () => {
    const dataDir = temporaryFolder();
    const settings = parseServerConfig(await environment(dataDir, { PHALANX_ADMIN_TOKEN: '' }));
    const first = await startServer(settings);
    const secret = first.firstToken ?? '';
    expect(secret).toMatch(/^phx_[0-9A-Za-z]{39}$/);
    expect((await createApiCaller(first.url, secret)('GET', '/api/v2/users')).status).toBe(200);
    await first.close();
    const second = await startServer(settings);
    expect(second.firstToken).toBeUndefined();
    expect((await createApiCaller(second.url, secret)('GET', '/api/v2/users')).status).toBe(200);
    await second.close();
    // The operator puts the printed token into the setting.
    const third = await startServer(
      parseServerConfig(await environment(dataDir, { PHALANX_ADMIN_TOKEN: secret })),
    );
    expect((await createApiCaller(third.url, secret)('GET', '/api/v2/users')).status).toBe(200);
    await third.close();
  });

  it.each(['phx_this-one-was-invented-by-the-operator', `phx_${'0'.repeat(39)}`])(
    'from outside may be %s, although it begins like one of ours',
    async (token) => {
      const server = await TestServer.start({ settings: { PHALANX_ADMIN_TOKEN: token } });
      cleanUps.push(() => server.dispose());
      expect((await server.api('GET', '/api/v2/me', { token })).status).toBe(200);
    },
  );

  it('from outside replaces the one of the last start', async () => {
    const dataDir = temporaryFolder();
    const old = 'old-token-0123456789-0123456789-0123456789';
    await (
      await startServer(parseServerConfig(await environment(dataDir, { PHALANX_ADMIN_TOKEN: old })))
    ).close();
    const next = await startServer(parseServerConfig(await environment(dataDir)));
    cleanUps.push(() => next.close());
    expect((await createApiCaller(next.url, old)('GET', '/api/v2/me')).status).toBe(401);
    expect((await createApiCaller(next.url, adminToken)('GET', '/api/v2/me')).status).toBe(200);
  });
});

describe('a folder of logs that can’t be written', () => {
  it('acknowledges nothing, and has everything once it can write again', async () => {
    const server = await TestServer.start({ engine: 'SQLite' });
    cleanUps.push(() => server.dispose());
    const { host, deviceId } = await server.connectHost();
    cleanUps.push(() => host.cut());
    const { runId, launchId } = await server.startRun(host, deviceId);
    await host.log(runId, ['before']);
    const folder = path.join(server.dataDir, 'logs');
    await rename(folder, `${folder}.away`);
    // A new minute begins a new file, for which there is no folder.
    server.clock.advance(61_000);
    host.buffer(runId, [
      [server.clock.now(), 0, 1, 'during 1'],
      [server.clock.now(), 0, 1, 'during 2'],
    ]);
    host.sendLogs(runId, 1);
    await expect.poll(async () => (await server.api('GET', '/readyz')).status).toBe(503);
    expect(host.logBuffers.get(runId)?.entries).toHaveLength(2);
    await rename(`${folder}.away`, folder);
    await host.logsStored(runId);
    const logs = await server.allLogs(deviceId, [launchId]);
    expect(logs.map((log) => log.message)).toEqual(['before', 'during 1', 'during 2']);
    expect(host.isOpen).toBe(true);
  });
});
