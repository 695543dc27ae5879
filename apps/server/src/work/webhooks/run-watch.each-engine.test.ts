import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { webhookEvents } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, expect, it } from 'vitest';

import type { TestHost } from '../../testing/test-host.ts';
import { TestServer } from '../../testing/test-server.ts';
import { Receiver } from './testing/receiver.ts';
import { hourMs } from '@phalanx/timing/durations';

const timeouts = { timeout: 30_000, interval: 50 };

let folder: string;
let server: TestServer;
let host: TestHost;
let deviceId: string;
let receiver: Receiver;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'phalanx-webhooks-'));
  receiver = await Receiver.start();
  server = await TestServer.start({
    ackTimeoutMs: 10_000,
    sweepMs: 100,
    settings: {
      PHALANX_WEBHOOK_NETWORKS: '127.0.0.2/32',
      PHALANX_SECRETS_KEY_FILE: path.join(folder, 'secrets.key'),
    },
  });
  ({ host, deviceId } = await server.connectHost());
});
afterAll(async () => {
  await host.cut();
  await server.dispose();
  await receiver.close();
  await rm(folder, { recursive: true, force: true });
});

async function run(status: 'completed' | 'failed' | 'stopped'): Promise<void> {
  const { runId } = await server.startRun(host, deviceId);
  const error = status === 'failed' ? { code: 'error', message: 'it broke' } : null;
  await host.end(runId, status, { error });
}
const told = (type: string) => receiver.received.filter(({ body }) => body.type === type);

it('many runs that fail, and the absence of runs, are told of once each, and again when it was over', async () => {
  await run('failed');
  const events = ['runs.failing', 'runs.none'];
  const body = { url: receiver.url, events, failing_percent: 60, failing_hours: 2, silent_hours: 3 };
  const made = await server.api('POST', '/api/v2/webhooks', { body });
  expect(made.status, made.text).toBe(201);
  for (const status of ['failed', 'failed', 'completed', 'stopped', 'completed'] as const) await run(status);
  expect(told('runs.failing')).toEqual([]);
  await run('failed');
  await expect.poll(() => told('runs.failing').length, timeouts).toBe(1);
  const [failing] = told('runs.failing');
  expect(failing?.body.data).toEqual({ hours: 2, ended: 5, failed: 3 });
  expect(Compile(webhookEvents['runs.failing']).Check(failing?.body)).toBe(true);
  for (const status of ['completed', 'completed', 'failed'] as const) await run(status);
  expect(told('runs.failing')).toHaveLength(1);

  expect(told('runs.none')).toEqual([]);
  server.clock.advance(3 * hourMs);
  await expect.poll(() => told('runs.none').length, timeouts).toBe(1);
  expect(Compile(webhookEvents['runs.none']).Check(told('runs.none')[0]?.body)).toBe(true);
  server.clock.advance(3 * hourMs);
  // Once a check has found a run, the silence after it counts as a new one.
  const afterAnother = async (): Promise<number> => {
    const count = told('runs.none').length;
    if (count < 2) await run('completed');
    await sleep(1000);
    server.clock.advance(4 * hourMs);
    return count;
  };
  await expect.poll(afterAnother, { timeout: 60_000, interval: 1000 }).toBeGreaterThan(1);
  expect(told('runs.failing')).toHaveLength(1);
});
