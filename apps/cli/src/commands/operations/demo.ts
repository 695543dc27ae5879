import { mkdtemp, rm, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { serverSettings } from '@phalanx/server/config';
import { type Environment, explainFolder } from '@phalanx/settings';
import type { Command } from 'commander';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '@phalanx/client/api-client';
import {
  deviceRoutes,
  fileRoutes,
  launchRoutes,
  projectRoutes,
  recordRoutes,
  type Device,
  type OutOfStepsRecord,
  type Run,
  type LogEntry,
} from '@phalanx/protocol';

import { clientFor } from '../../connection/client-for.ts';
import { CommandError, exitCodes } from '../../exit-codes.ts';
import { followToEnd, startedRuns } from '../../follow/follow-to-end.ts';
import type { Service } from '../../service.ts';
import { addSettingFlags, settingsOf } from '../../settings.ts';
import { tellOfStart } from '../../start/reexec.ts';
import { untilSignal } from '../../until-signal.ts';

const rows = serverSettings.filter(({ name }) => name === 'PHALANX_LISTEN');
const defaultAddress = '127.0.0.1:8080';

const phoneTimeoutMs = 60_000;
const recordTimeoutMs = 15_000;
const pollMs = 100;

/** Returns the default address if its port is free, otherwise one with any free port. */
async function freeAddress(): Promise<string> {
  const probe = createServer();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  probe.once('error', () => resolve(false));
  probe.listen(8080, '127.0.0.1', () => resolve(true));
  const isFree = await promise;
  if (!isFree) return '127.0.0.1:0';
  await new Promise((done) => probe.close(done));
  return defaultAddress;
}

async function demoSettings(given: Environment, dataDir: string): Promise<Environment> {
  const listen = given['PHALANX_LISTEN'] ?? (await freeAddress());
  const settings = { ...given, PHALANX_DATA_DIR: dataDir, PHALANX_LISTEN: listen };
  // The demo ignores attached phones. It logs only errors, because its output is for people.
  return {
    PHALANX_LOG_LEVEL: 'error',
    ...settings,
    PHALANX_ADB_SERVER: 'off',
    PHALANX_ADMIN_TOKEN: undefined,
  };
}

/** `phalanx demo`: runs the service with a simulated phone, in a folder that is deleted afterwards. */
export function addDemoCommand(program: Command): void {
  const command = program
    .command('demo')
    .description('run two sample automations on a simulated phone')
    .action(async () => {
      const settings = settingsOf(command, rows);
      const stopped = untilSignal();
      const { startService } = await import('../../service.ts');
      const dataDir = await temporaryFolder();
      try {
        const service = await startService(await demoSettings(settings, dataDir), 1);
        try {
          await Promise.race([present(service), stopped]);
          await stopped;
        } finally {
          await service.close();
        }
      } finally {
        await rm(dataDir, { recursive: true, force: true });
      }
    });
  addSettingFlags(command, rows);
}

async function temporaryFolder(): Promise<string> {
  try {
    return await mkdtemp(path.join(tmpdir(), 'phalanx-demo-'));
  } catch (error) {
    throw explainFolder(error, { setting: 'TMPDIR', folder: tmpdir() });
  }
}

async function present({ server, host }: Service): Promise<void> {
  const { url, firstToken: token } = server;
  if (token === undefined) throw new CommandError(exitCodes.failed, 'The demo could not create a token.');
  const api = clientFor(url, token);
  tellOfStart();
  printIntroduction(url, host.protection);
  const device = await runSamples(api);
  printNextSteps({ url, token, device, signInLink: await server.createSignInLink() });
}

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

interface Sample {
  /** File name in `apps/cli/samples`. */
  file: string;
  /** Name of its project. */
  project: string;
  /** End of a sentence about the sample. */
  about: string;
  automationParameters?: Record<string, unknown>;
}

const filledForm: Sample = {
  file: 'registration.ts',
  project: 'Registration',
  about: 'fills in a form.',
  automationParameters: { name: 'Ada Lovelace', email: 'ada@example.com' },
};

const unknownScreen: Sample = {
  file: 'out-of-steps.ts',
  project: 'Unknown screen',
  about:
    'meets a screen that it does not know. It runs out of steps on purpose, to leave a record for review.',
};

/** Saves a sample as a project, runs it on the simulated phone, and shows its logs. Returns the project's ID. */
async function runSample(api: ApiClient, device: Device, sample: Sample): Promise<string> {
  const content = await readFile(new URL(`../../../samples/${sample.file}`, import.meta.url), 'utf8');
  const { project } = await api.call(projectRoutes.create, { body: { name: sample.project } });
  const { id } = project;
  await api.call(fileRoutes.write, { params: { id }, body: { path: 'main.ts', content } });
  const { message, devices } = await api.call(launchRoutes.launch, {
    body: {
      device_ids: [device.device_id],
      automationId: id,
      command: 'start',
      automationParameters: sample.automationParameters ?? {},
    },
  });
  printLaunch(sample, message);
  await followToEnd(api, startedRuns(devices), {
    onEntries: (_, entries) => entries.forEach(printLog),
    onEnd: printRunEnd,
  });
  return id;
}

/** Waits until the record of a run is complete. After a timeout, returns what has arrived, or null. */
async function waitForRecord(api: ApiClient, automationId: string): Promise<OutOfStepsRecord | null> {
  const deadline = Date.now() + recordTimeoutMs;
  for (;;) {
    const { result } = await api.call(recordRoutes.list, { query: { automation_id: automationId } });
    if (result?.partial === false || Date.now() > deadline) return result;
    await sleep(pollMs);
  }
}

/** Runs both samples: one fills in a form, the other meets an unknown screen. Returns the phone. */
export async function runSamples(api: ApiClient): Promise<Device> {
  const device = await waitForDevice(api);
  printDevice(device);
  await runSample(api, device, filledForm);
  const record = await waitForRecord(api, await runSample(api, device, unknownScreen));
  if (record !== null) printRecord(record);
  return device;
}

const line = (text = ''): void => console.log(text);

export function printIntroduction(url: string, protection: string): void {
  line();
  line(`  Phalanx demo    ${url}`);
  line(`  API reference   ${url}/docs`);
  line(`  ${protection}`);
  line();
}

export function printDevice({ brand, model, android_version: version, serial, state, since }: Device): void {
  const age = Math.max(0, Math.round((Date.now() - since) / 1000));
  line(
    `  Phone   ${brand} ${model}, Android ${version}, serial ${serial}: ${state} for ${age} s (simulated)`,
  );
}

export function printLaunch({ file, project, about }: Sample, message: string): void {
  line();
  line(`  Launch  The project “${project}” (apps/cli/samples/${file}) ${about}`);
  line(`          ${message}`);
  line();
  line('  line  level  message');
}

export function printLog({ lineNumber, messageLevel, message }: LogEntry): void {
  const margin = `\n${' '.repeat(15)}`;
  line(`  ${String(lineNumber).padStart(4)}  ${messageLevel.padEnd(5)}  ${message.replaceAll('\n', margin)}`);
}

export function printRunEnd({ status, outcome, error, started_at: startedAt, ended_at: endedAt }: Run): void {
  const duration =
    startedAt === null || endedAt === null ? '' : ` after ${((endedAt - startedAt) / 1000).toFixed(1)} s`;
  line();
  const end = outcome === 'out_of_steps' ? 'out of steps, as intended,' : status;
  line(`  Run     ${end}${duration}${error === null ? '' : `: ${error.message}`}`);
}

export function printRecord({ out_of_steps_id: id, type, screens }: OutOfStepsRecord): void {
  const last = screens.at(-1);
  line(`  Record  ${type} ${id} with ${screens.length} screens; the last one:`);
  line(`          ${last?.screenshot.screenshotUrl ?? 'no picture'}`);
}

interface NextSteps {
  url: string;
  token: string;
  device: Device;
  signInLink: string;
}

const quoted = (value: unknown): string => `'${JSON.stringify(value).replaceAll("'", `'\\''`)}'`;

/** Prints commands that work when they are pasted in this order. */
export function printNextSteps({ url, token, device, signInLink }: NextSteps): void {
  const launchId = randomUUID();
  const post = (route: string, body: unknown): string =>
    `curl -s ${url}${route} -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d ${quoted(body)}`;
  const code =
    "const screen = await agent.actions.screenContent(); console.log('In front:', screen.packageName); for (const node of screen.allNodes()) if (node.text) console.log(node.text);";
  line();
  line(`  Token   ${token}`);
  line();
  line('  Sign-in link for the console (works once):');
  line();
  line(signInLink);
  line();
  line('  Paste these into another terminal to list the phones, launch code and read its log.');
  line();
  line(`curl -s ${url}/api/v2/devices -H 'Authorization: Bearer ${token}'`);
  line();
  line(
    post('/api/v2/devices/launchDirectAutomation', {
      device_id: device.device_id,
      launch_id: launchId,
      command: 'start',
      name: 'in-front.ts',
      code,
    }),
  );
  line();
  // Gives the log time to appear, because all commands may be pasted at once.
  const logs = { device_id: device.device_id, automation_ids: [launchId] };
  line(`sleep 2; ${post('/api/v2/devices/automationLogs', logs)}`);
  line();
  line('  Press Ctrl-C to stop the demo.');
}
