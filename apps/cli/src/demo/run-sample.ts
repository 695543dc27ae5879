import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  deviceRoutes,
  isEnded,
  launchRoutes,
  logRoutes,
  runRoutes,
  type Device,
  type Run,
} from '@phalanx/protocol';

import type { ApiClient } from '../api-client.ts';
import { StartError } from '../settings.ts';
import { printDevice, printLaunch, printLog, printRunEnd } from './print-steps.ts';

const phoneTimeoutMs = 60_000;
const pollMs = 100;

async function waitForDevice(api: ApiClient): Promise<Device> {
  const deadline = Date.now() + phoneTimeoutMs;
  let seen = 'no phone was found';
  while (Date.now() < deadline) {
    const device = (await api.call(deviceRoutes.list)).devices[0];
    if (device?.state === 'ready') return device;
    if (device !== undefined) seen = `it is ${device.state}: ${device.reason}`;
    await sleep(pollMs);
  }
  throw new StartError(`The simulated phone did not get ready within ${phoneTimeoutMs / 1000} s; ${seen}.`);
}

async function findRun(api: ApiClient, launchId: string): Promise<Run> {
  const run = (await api.call(runRoutes.list, { query: { automation_id: launchId } })).runs[0];
  if (run === undefined) throw new StartError('The sample was started, but its run is not listed.');
  return run;
}

/** Prints entries as they come, until the run has ended and nothing is left. */
async function follow(api: ApiClient, deviceId: string, launchId: string): Promise<Run> {
  let from: string | undefined;
  for (;;) {
    const run = await findRun(api, launchId);
    const { logs } = await api.call(logRoutes.read, {
      body: { device_id: deviceId, automation_ids: [launchId], ...(from === undefined ? {} : { from }) },
    });
    for (const entry of logs) printLog(entry);
    from = logs.at(-1)?.id ?? from;
    if (isEnded(run.status) && logs.length === 0) return run;
    await sleep(pollMs);
  }
}

/** Runs the sample automation on the simulated phone, and shows its logs. */
export async function runSample(api: ApiClient): Promise<Device> {
  const device = await waitForDevice(api);
  printDevice(device);
  const code = await readFile(new URL('../../samples/registration.ts', import.meta.url), 'utf8');
  const launchId = randomUUID();
  const body = { device_id: device.device_id, launch_id: launchId, command: 'start' as const, code };
  const { message } = await api.call(launchRoutes.launchDirect, {
    body: { ...body, automationParameters: { name: 'Ada Lovelace', email: 'ada@example.com' } },
  });
  printLaunch(message);
  printRunEnd(await follow(api, device.device_id, launchId));
  return device;
}
