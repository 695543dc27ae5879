/** Outcomes of runs with each version of an app, over the API and by webhooks. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  AppVersionFigures,
  driftRoutes,
  goldenText,
  groupRoutes,
  recordRoutes,
  type RunReport,
  type ScreenTree,
  webhookEvents,
} from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { TestProject } from '../../../code/projects/testing/test-projects.ts';
import type { ApiCaller } from '../../../testing/api-caller.ts';
import { labelledScreens } from '../../../testing/records/labelled-screens.ts';
import { recordReport, screenReport, sendReport } from '../../../testing/records/record-reports.ts';
import { stringAt } from '../../../testing/string-at.ts';
import type { TestHost } from '../../../testing/test-host.ts';
import { TestServer } from '../../../testing/test-server.ts';
import { Receiver } from '../../../work/webhooks/testing/receiver.ts';

const figuresCheck = Compile(Type.Array(AppVersionFigures));
const eventCheck = Compile(webhookEvents['drift.found']);
const name = 'com.example.shop';
const timeouts = { timeout: 30_000, interval: 50 };

let folder: string;
let server: TestServer;
let host: TestHost;
let deviceId: string;
let receiver: Receiver;
let project: TestProject;
let webhookId: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'phalanx-drift-'));
  server = await TestServer.start({
    sweepMs: 50,
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
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  receiver = await Receiver.start();
  project = await TestProject.create(server.api);
  await project.put('main.ts', 'console.log(1);');
  const body = { url: receiver.url, events: ['drift.found'], project_ids: [project.id] };
  const reply = await server.api('POST', '/api/v2/webhooks', { body });
  webhookId = stringAt(reply.body['webhook'], 'id');
});
afterEach(async () => {
  await server.api('DELETE', `/api/v2/webhooks/${webhookId}`);
  await receiver.close();
});

async function launch(): Promise<string> {
  const body = { device_ids: [deviceId], automationId: project.id, command: 'start' };
  const { status, text } = await server.api('POST', '/api/v2/devices/launchAutomation', { body });
  if (status !== 200) throw new Error(text);
  return host.messages('launch').at(-1)?.runs[0]?.run_id ?? '';
}

const good: Partial<RunReport> = {};
const bad: Partial<RunReport> = { outcome: 'out_of_steps' };
const app = (version: string) => ({ package: name, version });

/** Runs sequentially, because a phone has at most one run of a project at a time. */
async function run(version: string, more: Partial<RunReport>, times = 1): Promise<void> {
  for (let count = 0; count < times; count += 1)
    await host.end(await launch(), 'completed', { app: app(version), ...more });
}

const driftOf = (id = project.id, api: ApiCaller = server.api) =>
  api('GET', driftRoutes.get.path.replace(':id', id));

async function versions(): Promise<AppVersionFigures[]> {
  const { body, text } = await driftOf();
  if (!figuresCheck.Check(body['versions'])) throw new Error(text);
  return body['versions'];
}

const counts = async () =>
  (await versions()).map(({ version, runs, bad_runs: badRuns, records }) => [
    version,
    runs,
    badRuns,
    records,
  ]);

const screens = labelledScreens({ hasIds: true, languages: ['en'], versions: [1], seed: 7 });
const shown = (number: number): ScreenTree => {
  const tree = screens.find(({ label }) => label === `screen ${number}`)?.tree;
  if (tree === undefined) throw new Error('there is no such screen');
  return tree;
};

/** Makes a record whose last screen shows this tree. Returns its group. */
async function meet(tree: ScreenTree, version: string | null): Promise<string> {
  const runId = await launch();
  const screen = screenReport({ screenshot: null });
  const about = { package: name, activity: null, language: 'en', version };
  const report = recordReport(runId, { record_id: uuidv7(), screens: [screen], app: about });
  await sendReport(host, report);
  await sendReport(host, report);
  const place = recordRoutes.putCapture.path
    .replace(':record_id', report.record_id)
    .replace(':screen_id', screen.screen_id)
    .replace(':kind', 'tree');
  await server.api('PUT', place, { raw: JSON.stringify(tree), contentType: 'application/json' });
  const groupOf = async () =>
    (await server.api('GET', groupRoutes.ofRecord.path.replace(':id', report.record_id))).body['group_id'];
  await expect.poll(groupOf, timeouts).toEqual(expect.any(String));
  await host.end(runId, 'completed', {});
  return String(await groupOf());
}

describe('runs of a version', () => {
  it('are counted once, whatever is told again; those that say nothing of the app are not', async () => {
    await run('8.1.1', good, 2);
    const runId = await launch();
    const end = { app: app('8.1.1'), error: { code: 'uncaught_error', message: 'x' } };
    await host.end(runId, 'failed', end);
    await host.end(runId, 'failed', end);
    await host.end(await launch(), 'stopped', { app: app('8.1.1') });
    await host.end(await launch(), 'failed', { ...end, error: { code: 'phone_lost', message: 'x' } });
    await host.end(await launch(), 'completed', {});
    const direct = await server.startRun(host, deviceId);
    await host.end(direct.runId, 'completed', { app: app('8.1.1') });
    expect(await counts()).toEqual([['8.1.1', 3, 1, 0]]);
    await host.cut();
    host.runs.set(runId, {
      run_id: runId,
      status: 'failed',
      started_at: 1,
      ended_at: 2,
      ...end,
    });
    await host.connect();
    expect(await counts()).toEqual([['8.1.1', 3, 1, 0]]);
  });

  it('that end badly far more often than those of the version before are told of, once', async () => {
    await run('8.1.1', good, 19);
    await run('8.1.1', bad);
    await run('8.1.2', bad, 4);
    expect(receiver.received).toEqual([]);
    await run('8.1.2', good);
    await expect.poll(() => receiver.received.length, timeouts).toBe(1);
    const [told] = receiver.received;
    expect(eventCheck.Check(told?.body)).toBe(true);
    expect(told?.body.data).toEqual({
      automation_id: project.id,
      automation_name: expect.any(String),
      package: name,
      version: '8.1.2',
      version_before: '8.1.1',
      reason: 'failing',
      group_id: null,
      runs: 5,
      bad_runs: 4,
      runs_before: 20,
      bad_runs_before: 1,
    });
    await run('8.1.2', bad, 3);
    const [newest, before] = await versions();
    expect(newest).toMatchObject({
      version: '8.1.2',
      runs: 8,
      bad_runs: 7,
      drift: { by: 'failing', runs: 5 },
    });
    expect(before).toMatchObject({ version: '8.1.1', drift: null });
    expect(receiver.received).toHaveLength(1);
  });

  it('without a version before, or that are no worse, are not told of', async () => {
    await run('8.1.1', bad, 6);
    await run('8.1.2', bad, 6);
    await run('8.1.3', good, 6);
    expect((await versions()).map(({ drift }) => drift)).toEqual([null, null, null]);
    expect(receiver.received).toEqual([]);
  });
});

describe('a group', () => {
  it('that begins with a version is shown there, with the golden screen that it is most like', async () => {
    const before = shown(3);
    const text = goldenText({ expect: { state: 'Checkout' }, from: {}, tree: before });
    await project.put('screens/Checkout/pixel.json', text);
    const json = JSON.stringify(before);
    const id = json.match(/"viewId":"com.example.shop:id\/(\w+_\w+)"/)?.[1] ?? '';
    const changed: ScreenTree = JSON.parse(json.replaceAll(`:id/${id}"`, `:id/${id}_now"`));
    const group = await meet(changed, '8.1.2');
    const [version] = await versions();
    expect(version).toMatchObject({ version: '8.1.2', records: 1, groups: 1, runs: 0 });
    const [found] = version?.new_groups ?? [];
    expect(found).toMatchObject({ id: group, status: 'open', records: 1, phones: 1 });
    expect(found?.nearest).toMatchObject({
      kind: 'golden',
      name: 'screens/Checkout/pixel.json',
      state: 'Checkout',
      difference: `#${id} is gone; #${id}_now is new`,
    });
    expect(found?.nearest?.likeness).toBeGreaterThan(0.5);
  });

  it('that was solved and opens again with a version that it did not have is told of', async () => {
    const group = await meet(shown(5), '8.1.1');
    await server.api('PATCH', groupRoutes.change.path.replace(':id', group), { body: { status: 'solved' } });
    expect(await meet(shown(5), '8.1.2')).toBe(group);
    await expect.poll(() => receiver.received.length, timeouts).toBe(1);
    expect(receiver.received[0]?.body.data).toMatchObject({
      version: '8.1.2',
      reason: 'reopened',
      group_id: group,
      runs: 0,
    });
    await server.api('PATCH', groupRoutes.change.path.replace(':id', group), { body: { status: 'solved' } });
    await meet(shown(5), '8.1.1');
    expect((await versions()).map(({ version, drift }) => [version, drift?.by])).toEqual([
      ['8.1.2', 'reopened'],
      ['8.1.1', undefined],
    ]);
    expect(receiver.received).toHaveLength(1);
  });
});

it('is seen by the owner and shared editors, and by tokens for the project', async () => {
  await run('8.1.1', good);
  const [editor, viewer] = [await server.createCaller('editor'), await server.createCaller('viewer')];
  for (const [{ userId }, role] of [
    [editor, 'shared_editor'],
    [viewer, 'shared_viewer'],
  ] as const)
    await server.api('PUT', `/api/v2/automation-project/${project.id}/members/${userId}`, { body: { role } });
  expect((await driftOf(project.id, editor.api)).status).toBe(200);
  expect((await driftOf(project.id, viewer.api)).status).toBe(403);
  expect((await driftOf(crypto.randomUUID())).status).toBe(403);
  await server.api('DELETE', `/api/v2/automation-project/${project.id}`);
  expect((await driftOf()).status).toBe(403);
});
