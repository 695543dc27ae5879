import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  deviceRoutes,
  isEnded,
  launchRoutes,
  logRoutes,
  recordRoutes,
  runRoutes,
  type Device,
  type OutOfStepsRecord,
  type Run,
} from '@phalanx/protocol';

import type { ApiClient } from '../api-client.ts';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { printDevice, printLaunch, printLog, printRecord, printRunEnd } from './print-steps.ts';

const phoneTimeoutMs = 60_000;
const recordTimeoutMs = 15_000;
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
  throw new CommandError(
    exitCodes.failed,
    `The simulated phone did not get ready within ${phoneTimeoutMs / 1000} s; ${seen}.`,
  );
}

async function findRun(api: ApiClient, launchId: string): Promise<Run> {
  const run = (await api.call(runRoutes.list, { query: { automation_id: launchId } })).runs[0];
  if (run === undefined)
    throw new CommandError(exitCodes.failed, 'The sample was started, but its run is not listed.');
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

interface Sample {
  /** In `apps/cli/samples`. */
  file: string;
  automationParameters?: Record<string, unknown>;
}

/** Runs a sample automation on the simulated phone, and shows its logs. Returns the launch ID. */
async function runSample(
  api: ApiClient,
  device: Device,
  { file, automationParameters }: Sample,
): Promise<string> {
  const code = await readFile(new URL(`../../samples/${file}`, import.meta.url), 'utf8');
  const launchId = randomUUID();
  const body = { device_id: device.device_id, launch_id: launchId, command: 'start' as const, code };
  const { message } = await api.call(launchRoutes.launchDirect, {
    body: { ...body, automationParameters: automationParameters ?? {} },
  });
  printLaunch(file, message);
  printRunEnd(await follow(api, device.device_id, launchId));
  return launchId;
}

/** The record that a run has left, once all of it has arrived. */
async function waitForRecord(api: ApiClient, launchId: string): Promise<OutOfStepsRecord | null> {
  const deadline = Date.now() + recordTimeoutMs;
  for (;;) {
    const { result } = await api.call(recordRoutes.list, { query: { automation_id: launchId } });
    if (result?.partial === false || Date.now() > deadline) return result;
    await sleep(pollMs);
  }
}

/** A form that is filled in, and an automation that meets a screen it does not know. Returns the phone. */
export async function runSamples(api: ApiClient): Promise<Device> {
  const device = await waitForDevice(api);
  printDevice(device);
  const automationParameters = { name: 'Ada Lovelace', email: 'ada@example.com' };
  await runSample(api, device, { file: 'registration.ts', automationParameters });
  const launchId = await runSample(api, device, { file: 'out-of-steps.ts' });
  const record = await waitForRecord(api, launchId);
  if (record !== null) printRecord(record);
  return device;
}
