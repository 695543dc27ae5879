import { randomUUID } from 'node:crypto';
import { until } from '@phalanx/host/testing/until';
import { launchRoutes, runRoutes } from '@phalanx/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { Installation } from './support/installation.ts';
import { LogReader } from './support/log-reader.ts';

let installation: Installation;
let deviceId: string;

beforeAll(async () => {
  installation = await Installation.start(2);
  deviceId = (await installation.readyDevices())[0]?.device_id ?? '';
});
afterAll(() => installation.stop());

async function readEverything(launchId: string): Promise<LogReader> {
  const reader = new LogReader(installation, { deviceId, launchId });
  await reader.readToEnd();
  return reader;
}

test('100 identical launches at the same time start one run and get one answer', async () => {
  const body = {
    device_id: deviceId,
    launch_id: randomUUID(),
    command: 'start' as const,
    code: 'console.log("once")',
  };
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => installation.api.call(launchRoutes.launchDirect, { body })),
  );
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  const { runs } = await installation.api.call(runRoutes.list, { query: { automation_id: body.launch_id } });
  expect(runs).toHaveLength(1);
  expect((await readEverything(body.launch_id)).entries.map((entry) => entry.message)).toEqual(['once']);
});

test('an automation reads the screen, taps and types on the phone it runs on', async () => {
  const launchId = await installation.launch(
    deviceId,
    `await agent.actions.launchApp('dev.phalanx.sample.form');
     const field = await agent.actions.waitForId('name');
     await field.tap();
     await agent.actions.writeText('Größe 🦊');
     console.log((await agent.actions.waitForText('Größe 🦊')).viewId);`,
  );
  expect(await installation.endedRun(launchId)).toMatchObject({ status: 'completed' });
  const [entry] = (await readEverything(launchId)).entries;
  expect(entry).toMatchObject({
    automationId: launchId,
    message: 'dev.phalanx.sample.form:id/name',
    messageLevel: 'log',
    lineNumber: 5,
  });
});

test('an uncaught error is logged with the lines of the user, and fails the run', async () => {
  const launchId = await installation.launch(
    deviceId,
    `interface Step { name: string }
     function fail(step: Step): never {
       throw new TypeError('no ' + step.name);
     }
     await Promise.resolve();
     fail({ name: 'luck' });`,
  );
  expect(await installation.endedRun(launchId)).toMatchObject({
    status: 'failed',
    error: { code: 'uncaught_error' },
  });
  const [entry] = (await readEverything(launchId)).entries;
  expect(entry).toMatchObject({ messageLevel: 'error', lineNumber: 3 });
  expect(entry?.message).toContain('TypeError: no luck');
  expect(entry?.message).toMatch(/main\.ts:3:\d+/);
  expect(entry?.message).toMatch(/main\.ts:6:\d+/);
});

test('a stop ends an endless loop, and the answer comes when the run has ended', async () => {
  const launchId = await installation.launch(deviceId, 'console.log("looping"); while (true) {}');
  const stop = { device_id: deviceId, launch_id: launchId, command: 'stop' as const, code: '' };
  await installation.api.call(launchRoutes.launchDirect, { body: stop });
  expect(await installation.findRun(launchId)).toMatchObject({ status: 'stopped' });
  const again = await installation.api.call(launchRoutes.launchDirect, { body: stop });
  expect(again).toMatchObject({ success: true, message: 'Nothing to stop: it does not run on this device.' });
});

const hostile: Record<string, string> = {
  'an endless loop': 'while (true) {}',
  'a memory hog': 'const hog = []; while (true) hog.push(new Array(100_000).fill(hog.length));',
  'an endless log loop': 'while (true) console.log("x".repeat(1000));',
  'a fork of promises':
    'const fork = async () => { await null; fork(); fork(); }; await fork(); await new Promise(() => {});',
  'a line that ends the V8 process': `console.log('now'); 'x'.repeat(2 ** 28).split('');`,
};

test.each(Object.entries(hostile))('%s costs only its own run', async (_name, code) => {
  const neighbour = await installation.launch(
    deviceId,
    `for (let line = 1; line <= 50; line++) { console.log('line ' + line); await agent.actions.sleep(20); }`,
  );
  const launchId = await installation.launch(deviceId, code);
  expect(await installation.endedRun(neighbour)).toMatchObject({ status: 'completed', error: null });
  expect((await readEverything(neighbour)).numbers).toHaveLength(50);
  await installation.api.call(launchRoutes.stopAll, { body: { device_id: deviceId } });
  expect((await installation.endedRun(launchId)).status).toMatch(/^(stopped|failed)$/);
  expect(await installation.endedRun(await installation.launch(deviceId, '1'))).toMatchObject({
    status: 'completed',
  });
});

test('a phone that drops away is not shown as ready, and comes back by itself', async () => {
  const phone = installation.phones[1];
  const device = (await installation.readyDevices()).find((one) => one.serial === phone?.serial);
  expect(device?.state).toBe('ready');
  if (phone !== undefined) phone.faults.hang = true;
  const launch = (): Promise<unknown> => {
    const device_id = device?.device_id ?? '';
    const body = { device_id, launch_id: randomUUID(), command: 'start' as const, code: '1' };
    return installation.api.call(launchRoutes.launchDirect, { body }).catch((error: unknown) => error);
  };
  // Until its host notices, a launch may begin or stay unconfirmed.
  const isRefused = (answer: unknown): boolean =>
    String(answer).includes('Some devices offline or not found');
  await until('a launch that is refused', launch, isRefused);
  if (phone !== undefined) phone.faults.hang = false;
  expect(await installation.readyDevices()).toHaveLength(2);
});
