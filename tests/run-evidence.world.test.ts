/**
 * Checks all output of a run at one service: records and groups are reviewed, and none of it contains masked areas or
 * secrets.
 */
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';

import {
  allRoutes,
  auditRoutes,
  deviceRoutes,
  fileRoutes,
  groupRoutes,
  isEnded,
  jobRoutes,
  launchRoutes,
  projectRoutes,
  recordRoutes,
  runRoutes,
  secretRoutes,
  traceRoutes,
  webhookRoutes,
  wholeScreen,
} from '@phalanx/protocol';
import { startSimulatedPhone } from '@phalanx/simulated-phone';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { Viewer } from '../apps/server/src/control/live/testing/viewers.ts';
import { MailServer } from '../apps/server/src/work/webhooks/testing/mail-server.ts';
import { Receiver } from '../apps/server/src/work/webhooks/testing/receiver.ts';
import { Installation } from './support/installation.ts';
import { family, tryRead } from './support/processes.ts';
import { Program } from './support/program.ts';

let installation: Installation;
let receiver: Receiver;
let mails: MailServer;
let deviceId: string;

beforeAll(async () => {
  receiver = await Receiver.start();
  mails = await MailServer.start();
  const phone = await startSimulatedPhone({ serial: 'TEST1', timeOfDay: '09:41' });
  const hostSettings = {
    PHALANX_PHONES: `${phone.host}:${phone.port}`,
    PHALANX_ADB_SERVER: 'off',
    PHALANX_LOG_LEVEL: 'debug',
  };
  installation = await Installation.start({ phones: [phone], hostSettings }, undefined, {
    PHALANX_WEBHOOK_NETWORKS: '127.0.0.2',
    PHALANX_SMTP_URL: `smtp://127.0.0.1:${mails.port}?tls=none`,
    PHALANX_MAIL_FROM: 'phalanx@service.example',
    PHALANX_MAIL_TO: 'example.com',
    PHALANX_LOG_LEVEL: 'debug',
  });
  deviceId = (await installation.readyDevices())[0]?.device_id ?? '';
});
afterAll(async () => {
  await installation.stop();
  await receiver.close();
  await mails.close();
});

async function createProject(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  const { project } = await installation.api.call(projectRoutes.create, { body: { name } });
  for (const [file, content] of Object.entries(files))
    await installation.api.call(fileRoutes.write, {
      params: { id: project.id },
      body: { path: file, content },
    });
  return project.id;
}

const sample = new URL('../apps/cli/samples/out-of-steps.ts', import.meta.url);

async function phalanx(...commandLine: string[]): Promise<string> {
  const program = new Program(commandLine, installation.callerSettings);
  await program.exited;
  return program.output;
}

test('an automation that meets an unknown screen leaves a record whose captures open without a header', async () => {
  const launchId = await installation.launch(deviceId, await readFile(sample, 'utf8'));
  expect(await installation.endedRun(launchId)).toMatchObject({ status: 'completed' });
  const record = await installation.wholeRecord(launchId);
  expect(record).toMatchObject({
    automation_id: launchId,
    automation_name: 'Direct code',
    type: 'outOfSteps',
    status: 'pending',
    tag: 'default',
    saved: false,
  });
  const last = record.screens.at(-1);
  expect(last).toMatchObject({ nextStage: 'back in the surprise app', screenState: 'unknown' });
  const picture = await fetch(last?.screenshot.screenshotUrl ?? '');
  expect(picture.headers.get('content-type')).toBe('image/jpeg');
  const tree = await fetch(last?.uiUrl ?? '');
  expect(await tree.text()).toContain('Network & internet');
});

test('an uncaught error leaves a crash record', async () => {
  const launchId = await installation.launch(deviceId, `throw new Error('no luck')`);
  await installation.endedRun(launchId);
  expect(await installation.wholeRecord(launchId)).toMatchObject({ type: 'crash', status: 'pending' });
});

test('records are reviewed from the command line', async () => {
  expect(await phalanx('records', 'list', '--status', 'pending')).toMatch(/outOfSteps|crash/);
  const { result } = await installation.api.call(recordRoutes.list, { query: { type: 'outOfSteps' } });
  const id = result?.out_of_steps_id ?? '';
  expect(await phalanx('records', 'show', id)).toMatch(/TextView #title "Network & internet"/);
  expect(await phalanx('records', 'solve', id)).toContain('marked as solved');
  expect(await phalanx('records', 'skip', id)).toContain('cannot be changed');
  expect(await phalanx('records', 'save', id)).toContain('saved');
  expect(await phalanx('records', 'list', '--status', 'solved', '--json')).toContain(id);
});

test('groups of records are reviewed from the command line', async () => {
  const { groups } = await installation.api.call(groupRoutes.list, { query: {} });
  const group = groups.find((one) => one.sample?.type === 'outOfSteps');
  const id = group?.id ?? '';
  expect(await phalanx('groups')).toContain(id);
  expect(await phalanx('groups', 'show', id.slice(-8))).toMatch(
    /network & internet.*\n[^]*the first record of the group/,
  );
  expect(await phalanx('groups', 'solve', id, '--keep-records')).toContain('solved, 1 record of 1 phone');
  expect(await phalanx('groups', 'undo', id)).toContain('open');
  expect(await phalanx('groups', 'undo', id)).toContain('can be undone');
  expect(await phalanx('groups', 'assign', id)).toMatch(/open, \w+/);
  expect(await phalanx('groups', '--mine', '--json')).toContain(id);
  expect(await phalanx('groups', 'split', id, group?.sample?.record_id ?? '')).toContain('not all of them');
  expect(await phalanx('groups', 'merge', id, '0000')).toContain('Unknown group');
  expect(await phalanx('groups', 'ignore', id)).toContain('ignored');
  expect(await phalanx('groups', 'reopen', id)).toContain('open');
});

const typed = 'balance-of-the-tests';
const masks = [
  { packageName: 'dev.phalanx.sample.form', viewId: 'name' },
  { area: { left: 0, top: 0, right: 1, bottom: 0.1 } },
];
/** Upper tenth of a screen of 1080 by 2400 pixels. */
const area = { left: 0, top: 0, right: 1080, bottom: 240 };
const maskedCode = `
  await agent.actions.launchApp('dev.phalanx.sample.form');
  const field = await agent.actions.waitForId('name');
  await field.tap();
  await agent.actions.writeText('${typed}');
  const screen = await agent.actions.screenContent();
  console.log(JSON.stringify(screen.findById('name')), JSON.stringify(await agent.actions.windows()));
  console.log('bounds', JSON.stringify(screen.findById('name')!.boundsInScreen));
  for (const quality of [ScreenshotRecord.LOW_QUALITY, ScreenshotRecord.HIGH_QUALITY])
    await agent.utils.outOfSteps.storeScreen(screen, 's', 'Form', 1, quality);
  await agent.utils.outOfSteps.submit('outOfSteps');
  console.log('picture', (await agent.actions.screenshot({ maxWidth: 360 })).base64);
  console.log('stored');
  await agent.actions.sleep(600_000);`;

interface Rectangle {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

const launch = (projectId: string, command: 'start' | 'stop'): Promise<unknown> =>
  installation.api.call(launchRoutes.launch, {
    body: { device_ids: [deviceId], automationId: projectId, command },
  });

/**
 * Returns the brightest level (0 to 255) of a part of the screen without its edge, into which JPEG spreads
 * surrounding colors.
 */
async function brightest(picture: Buffer, { left, top, right, bottom }: Rectangle): Promise<number> {
  const { width } = await sharp(picture).metadata();
  const at = (value: number): number => Math.floor((value * width) / 1080);
  const part = {
    left: at(left + 20),
    top: at(top + 20),
    width: at(right - left - 40),
    height: at(bottom - top - 40),
  };
  const grey = await sharp(picture).extract(part).greyscale().toBuffer();
  return (await sharp(grey).stats()).channels[0]?.max ?? 255;
}

test('what a project masks is black and empty in records, screens, live pictures and logs', async () => {
  const projectId = await createProject('masked', {
    'main.ts': maskedCode,
    'masks.json': JSON.stringify(masks),
  });
  await launch(projectId, 'start');
  const [run] = (await installation.api.call(runRoutes.list, { query: { automation_id: projectId } })).runs;
  const readLog = async (): Promise<string[]> =>
    (await installation.api.call(runRoutes.logs, { params: { id: run?.run_id ?? '' }, query: {} })).logs.map(
      ({ message }) => message,
    );
  await expect.poll(readLog).toContain('stored');
  const log = await readLog();
  const bounds: Rectangle = JSON.parse(log.find((line) => line.startsWith('bounds '))?.slice(7) ?? '');
  const taken = Buffer.from(log.find((line) => line.startsWith('picture '))?.slice(8) ?? '', 'base64');

  const reply = await installation.api.call(deviceRoutes.screen, {
    params: { id: deviceId },
    query: {},
  });
  const screen = wholeScreen(reply.screen);
  const viewer = await Viewer.open(`${installation.url}/api/v2/devices/${deviceId}/live`, {
    authorization: `Bearer ${installation.callerSettings['PHALANX_TOKEN']}`,
  });
  const frame = await viewer.next();
  viewer.close();
  const record = await installation.wholeRecord(projectId);
  const captures = record.screens.map(async ({ screenshot, uiUrl }) => ({
    picture: Buffer.from(await (await fetch(screenshot.screenshotUrl ?? '')).arrayBuffer()),
    tree: await (await fetch(uiUrl ?? '')).text(),
  }));
  const recorded = await Promise.all(captures);
  expect(recorded).toHaveLength(2);

  const pictures = [
    taken,
    Buffer.from(screen.picture?.base64 ?? '', 'base64'),
    Buffer.from(frame.jpeg ?? '', 'latin1'),
    ...recorded.map(({ picture }) => picture),
  ];
  for (const picture of pictures) {
    expect(await brightest(picture, bounds)).toBeLessThan(16);
    expect(await brightest(picture, area)).toBeLessThan(16);
  }
  const texts = [
    JSON.stringify(screen),
    ...log,
    ...recorded.map(({ tree }) => tree),
    installation.host.output,
  ];
  expect(texts.filter((text) => text.includes(typed))).toEqual([]);
  // The masked area contains the app's title.
  expect(texts.filter((text) => text.includes('Registration'))).toEqual([]);
  expect(JSON.stringify(screen)).toContain('Email address');

  await launch(projectId, 'stop');
  const open = await installation.api.call(deviceRoutes.screen, { params: { id: deviceId }, query: {} });
  expect(JSON.stringify(open)).toContain(typed);
}, 150_000);

/**
 * Number of projects. `SECRET_PROJECTS=10 SECRETS_EACH=100 npm run test:world -- tests/run-evidence` plants a
 * thousand secrets.
 */
const projects = Number(process.env['SECRET_PROJECTS'] ?? '2');
const secretsEach = Number(process.env['SECRETS_EACH'] ?? '10');
/** Mark that occurs in no other text of the service. */
const mark = 'planted-4f1c';
/** Replacement of a value. A text with the mark above would otherwise contain a value. */
const struck = '[secret]';

const secretCode = `
  let length = 0;
  for (let n = 0; n < ${secretsEach}; n += 1) {
    const value = await agent.secrets.get('SECRET_' + n);
    length += value.length;
    console.log(n, value, { value });
  }
  agent.control.setResult({ length, last: await agent.secrets.get('SECRET_${secretsEach - 1}') });
  await agent.actions.launchApp('dev.phalanx.sample.form');
  await (await agent.actions.waitForId('name')).tap();
  await agent.actions.writeText(await agent.secrets.get('SECRET_0'));
  await agent.utils.outOfSteps.storeScreen(
    await agent.actions.screenContent(), await agent.secrets.get('SECRET_1'), 'Form', 1, ScreenshotRecord.LOW_QUALITY);
  await agent.utils.outOfSteps.submit('debug', await agent.secrets.get('SECRET_2'));
  await agent.actions.clearText();
  await agent.run.attach('typed.txt', 'it was ' + await agent.secrets.get('SECRET_4'));
  await agent.run.attach('name ' + await agent.secrets.get('SECRET_7') + '.txt', 'named');
  await agent.actions.launchApp(await agent.secrets.get('SECRET_8')).catch((error) => console.warn(error));
  if (agent.arguments.jobVariables.row !== undefined) {
    await agent.utils.job.addSubTasks([{ word: await agent.secrets.get('SECRET_5') }]);
    await agent.utils.job.submitTask('failed', { word: await agent.secrets.get('SECRET_6') });
  }
  throw new Error(await agent.secrets.get('SECRET_3'));`;

const seen: string[] = [];
const jobIds: string[] = [];

const valueOf = (project: number, n: number): string => `${mark}-${project}-${n}-${crypto.randomUUID()}`;

/** Collects all data of the event stream until it is ended. */
async function followEvents(): Promise<{ said: () => string; end: () => Promise<void> }> {
  const closing = new AbortController();
  const { PHALANX_TOKEN: token = '' } = installation.callerSettings;
  const response = await fetch(`${installation.url}/api/v2/events`, {
    headers: { authorization: `Bearer ${token}` },
    signal: closing.signal,
  });
  let text = '';
  const read = async (): Promise<void> => {
    for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) text += part;
  };
  const reading = read().catch(() => undefined);
  return {
    said: () => text,
    end: async () => {
      closing.abort();
      await reading;
    },
  };
}

/** Starts a run of the project, every other one through a job. */
async function begin(project: number, id: string): Promise<void> {
  const { api } = installation;
  const device_ids = [deviceId];
  if (project % 2 === 0) {
    const body = { device_ids, automationId: id, command: 'start' as const, film: true };
    await api.call(launchRoutes.launch, { body });
    return;
  }
  const body = { device_ids, automation_id: id, inputs: [{ row: project }], retries: 0, film: true };
  jobIds.push((await api.call(jobRoutes.create, { body })).job.id);
}

async function runWithSecrets(project: number): Promise<string> {
  const { api } = installation;
  const params = { id: await createProject(`p ${project}`, { 'main.ts': secretCode }) };
  for (let n = 0; n < secretsEach; n += 1)
    await api.call(secretRoutes.put, {
      params: { ...params, name: `SECRET_${n}` },
      body: { value: valueOf(project, n) },
    });
  await begin(project, params.id);
  const query = { automation_id: params.id };
  // Takes the oldest run: a job's task adds a second one, whose run begins when this one has ended.
  const find = async () => (await api.call(runRoutes.list, { query })).runs.at(-1);
  const ended = async () => {
    for (const { pid, command } of family(process.pid)) seen.push(command, tryRead(`/proc/${pid}/environ`));
    return isEnded((await find())?.status ?? 'starting');
  };
  await expect.poll(ended).toBe(true);
  return (await find())?.run_id ?? '';
}

const gzipMark = Buffer.from([0x1f, 0x8b]);
const zstdMark = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
const sqliteMark = Buffer.from('SQLite format 3\0');

const begins = (bytes: Uint8Array, beginning: Buffer): boolean =>
  beginning.equals(bytes.subarray(0, beginning.byteLength));

function unpacked(bytes: Uint8Array): Buffer {
  if (begins(bytes, gzipMark)) return gunzipSync(bytes);
  return begins(bytes, zstdMark) ? zstdDecompressSync(bytes) : Buffer.from(bytes);
}

/** Returns every value of every table, decompressed. */
function valuesOf(file: string): string {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    return tables
      .flatMap(({ name }) => database.prepare(`SELECT * FROM "${String(name)}"`).all())
      .flatMap((row) => Object.values(row))
      .map((value) => (value instanceof Uint8Array ? unpacked(value).toString('latin1') : String(value)))
      .join('\n');
  } finally {
    database.close();
  }
}

/** Returns the replies of each reading endpoint about these objects, or the reason for skipping it, by operation. */
async function readEverything(ids: readonly string[]): Promise<Map<string, string>> {
  const { PHALANX_TOKEN: token = '' } = installation.callerSettings;
  const replies = new Map<string, string>();
  const reading = allRoutes.filter(
    ({ method, operationId, responses }) =>
      method === 'GET' && operationId !== 'events' && !(101 in responses),
  );
  for (const { path: template, operationId } of reading)
    for (const id of template.includes(':') ? ids : ['']) {
      const url = `${installation.url}${template.replaceAll(/:\w+/g, id)}?automation_id=${ids[0]}`;
      const reply = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
      replies.set(operationId, `${replies.get(operationId) ?? ''}\n${await reply.text()}`);
    }
  return replies;
}

/** Reads every file of the folders, decompressed. */
async function readAll(folder: string): Promise<[string, Buffer][]> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.join(parentPath, name));
  return Promise.all(
    files.map(async (file) => {
      const bytes = await readFile(file).catch(() => Buffer.alloc(0));
      return [file, unpacked(bytes)] as [string, Buffer];
    }),
  );
}

test('what a run reads as a secret reaches it, and no file, reply, message or process has it in clear', async () => {
  const { api, folder } = installation;
  const events = await followEvents();
  const hook = { url: receiver.url, events: ['run.ended', 'record.new', 'group.opened'] as const };
  await api.call(webhookRoutes.create, { body: { ...hook, events: [...hook.events] } });
  const mail = { url: 'mailto:ada@example.com', events: ['run.ended' as const] };
  const mailId = (await api.call(webhookRoutes.create, { body: mail })).webhook.id;
  const runIds: string[] = [];
  for (let project = 0; project < projects; project += 1) {
    const id = await runWithSecrets(project);
    runIds.push(id);
    const { run } = await api.call(runRoutes.get, { params: { id } });
    const { logs } = await api.call(runRoutes.logs, { params: { id }, query: {} });
    expect(run.result).toEqual({ length: expect.any(Number), last: struck });
    expect(run.error?.message).toContain(struck);
    expect(logs.filter(({ message }) => message.includes(struck)).length).toBeGreaterThanOrEqual(secretsEach);
    const { files } = await api.call(runRoutes.files, { params: { id } });
    expect(files.map(({ name }) => name).toSorted()).toEqual([`name ${struck}.txt`, 'typed.txt']);
    const trace = JSON.stringify(await api.call(traceRoutes.read, { params: { id }, query: {} }));
    expect(trace).toContain(struck);
    seen.push(JSON.stringify([run, logs, files]), trace);
  }
  seen.push(JSON.stringify(await api.call(runRoutes.list, { query: {} })));
  for (const id of jobIds) {
    const isOver = async (): Promise<boolean> =>
      (await api.call(jobRoutes.get, { params: { id } })).job.ended_at !== null;
    await expect.poll(isOver).toBe(true);
    const { tasks } = await api.call(jobRoutes.listTasks, { params: { id }, query: {} });
    expect(tasks[0]?.result).toEqual({ word: struck });
    expect(tasks[1]?.input).toEqual({ word: struck });
    seen.push(JSON.stringify(tasks), await api.text(jobRoutes.results, { params: { id }, query: {} }));
  }
  seen.push(JSON.stringify(await api.call(auditRoutes.list, { query: { limit: 1000 } })));

  await expect.poll(() => receiver.received.length).toBeGreaterThanOrEqual(3 * projects);
  // Mails about later runs are collected for the next e-mail.
  await expect.poll(() => mails.received.length).toBeGreaterThanOrEqual(1);
  const messages = receiver.received.map(({ text }) => text);
  const letters = mails.received.map(({ raw, text }) => `${raw}\n${text}`);
  expect(messages.join('\n')).toContain(struck);
  expect(letters.join('\n')).toContain(struck);
  await expect.poll(() => events.said()).toContain(runIds.at(-1));
  await events.end();
  expect(events.said()).toContain(struck);
  seen.push(...messages, ...letters, events.said());

  const { run } = await api.call(runRoutes.get, { params: { id: runIds.at(-1) ?? '' } });
  const { result } = await api.call(recordRoutes.list, { query: { automation_id: run.automation_id } });
  const ids = [
    run.automation_id,
    run.run_id,
    jobIds.at(-1) ?? '',
    deviceId,
    mailId,
    result?.out_of_steps_id ?? '',
  ];
  const replies = await readEverything(ids);
  for (const operation of [
    'listRuns',
    'getRun',
    'runLogs',
    'runFiles',
    'runTrace',
    'listJobTasks',
    'exportJobResults',
    'listWebhookDeliveries',
    'outOfSteps',
    'listGroups',
  ])
    expect([operation, replies.get(operation)]).toEqual([operation, expect.stringContaining(struck)]);
  seen.push(...replies.values());

  const archive = path.join(folder, 'all.tar');
  const backup = new Program(['backup', archive, '--data-dir', path.join(folder, 'server')], {});
  await backup.exited;
  expect(backup.exitCode, backup.output).toBe(0);
  await mkdir(path.join(folder, 'restored'));
  await promisify(execFile)('tar', ['-xf', archive, '-C', path.join(folder, 'restored')]);
  const files = await readAll(folder);
  expect(files.length).toBeGreaterThan(5);
  const inBackup = files.filter(([file, bytes]) => file.includes('restored') && begins(bytes, sqliteMark));
  const values = inBackup.map(([file]) => valuesOf(file));
  expect(values.join('\n')).toContain(struck);
  seen.push(...values);

  expect(seen.filter((text) => text.includes(mark))).toEqual([]);
  expect(files.filter(([, bytes]) => bytes.includes(mark)).map(([file]) => file)).toEqual([]);
  expect(files.map(([file]) => file).filter((file) => file.includes(mark))).toEqual([]);
  expect(installation.server.output + installation.host.output).not.toContain(mark);
});
