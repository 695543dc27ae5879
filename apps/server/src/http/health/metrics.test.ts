import { rename } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';

import { deviceReport } from '../../testing/host-wire.ts';
import { TestServer } from '../../testing/test-server.ts';

it('the figures have names that Prometheus takes: a counter is a total, and nothing else is', async () => {
  const server = await TestServer.start();
  const { text } = await server.api('GET', '/metrics');
  await server.dispose();
  const figures = [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)];
  expect(figures.length).toBeGreaterThan(20);
  const misnamed = figures.filter(([, name, type]) => name?.endsWith('_total') !== (type === 'counter'));
  expect(misnamed.map(([line]) => line)).toEqual([]);
  for (const line of [
    'tasks{status="waiting"} 0',
    'schedules{state="active"} 0',
    'webhook_messages{state="outbox"} 0',
  ])
    expect(text).toContain(`phalanx_${line}`);
  const free = /^phalanx_data_folder_free_bytes (\S+)$/m.exec(text)?.[1];
  expect(Number(free)).toBeGreaterThan(1_000_000);
});

it('the other figures are there also where the data folder cannot be looked at', async () => {
  const server = await TestServer.start();
  const away = `${server.dataDir}-away`;
  await rename(server.dataDir, away);
  const { status, text } = await server.api('GET', '/metrics');
  await rename(away, server.dataDir);
  await server.dispose();
  expect(status).toBe(200);
  expect(text).toContain('phalanx_data_folder_free_bytes Nan');
  expect(text).toContain('phalanx_hosts_connected 0');
});

it('devices that somebody should look after are counted, and tell of it', async () => {
  const server = await TestServer.start();
  onTestFinished(() => server.dispose());
  const warning = { code: 'storage_low' as const, reason: 'Less than 10 % of the storage is free.' };
  const { host } = await server.connectHost({ serials: ['full', 'well'] });
  const full = deviceReport('full', { warnings: [warning], battery_percent: 35 });
  host.send({ type: 'devices', devices: [full] });
  const count = async (): Promise<string | undefined> => {
    const { text } = await server.api('GET', '/metrics');
    return /phalanx_device_warnings\{code="storage_low"\} (\d+)/.exec(text)?.[1];
  };
  await expect.poll(count).toBe('1');
  const { body } = await server.api('GET', '/api/v2/devices');
  expect(body['devices']).toMatchObject([
    { warnings: [warning], battery_percent: 35 },
    { warnings: [], battery_percent: null },
  ]);
  host.send({ type: 'devices', devices: [deviceReport('full')] });
  await expect.poll(count).toBe('0');
});

it('runs that have ended are counted by outcome and reason, with how long they took', async () => {
  const server = await TestServer.start();
  onTestFinished(() => server.dispose());
  const { deviceId } = await server.connectHost({ launchHabit: 'ends_at_once' });
  for (let count = 0; count < 2; count += 1)
    expect((await server.start(deviceId, crypto.randomUUID())).status).toBe(200);
  const figures = async (): Promise<string[]> => {
    const { text } = await server.api('GET', '/metrics');
    return text
      .split('\n')
      .filter((line) => /^phalanx_run(s_ended_total|_duration_seconds_count)/.test(line));
  };
  await expect
    .poll(figures)
    .toEqual([
      'phalanx_runs_ended_total{outcome="succeeded",reason="completed"} 2',
      'phalanx_run_duration_seconds_count{outcome="succeeded"} 2',
    ]);
});
