import { randomUUID } from 'node:crypto';
import path from 'node:path';
import Sqlite from 'better-sqlite3';
import { allRoutes, auditActions, type AuditEntry } from '@phalanx/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { cloneUrl, runUserGit, TestFolders, TestProject } from '../../code/projects/testing/test-projects.ts';
import { createApiCaller, type ApiCaller, type ApiReply } from '../../testing/api-caller.ts';
import { recordReport, screenReport, sendReport } from '../../testing/records/record-reports.ts';
import { StaleCaches } from '../../testing/stale-caches.ts';
import { TestHost } from '../../testing/test-host.ts';
import { labelledScreens } from '../../testing/records/labelled-screens.ts';
import { stringAt } from '../../testing/string-at.ts';
import { startBody, TestServer } from '../../testing/test-server.ts';
import { readEntries } from './testing/audit-reader.ts';

const secretWord = 'word-that-only-files-and-parameters-hold';
const code = `console.log('${secretWord}')`;

let server: TestServer;
let host: TestHost;
let replayer: TestHost;
let deviceId = '';
let ann: { userId: string; token: string; api: ApiCaller };
let bob: { userId: string; token: string; api: ApiCaller };
let project: TestProject;
let staleCaches: StaleCaches | undefined;
const folders = new TestFolders();
/** Whether the server has a file of SQLite, which a test can open beside it. */
const hasFile = process.env['TEST_DATABASE'] === undefined;

beforeAll(async () => {
  server = await TestServer.start({ sweepMs: 20 });
  ann = await server.createCaller('ann');
  bob = await server.createCaller('bob');
  ({ host, deviceId } = await server.connectHost({ token: ann.token }, ann.api));
  replayer = new TestHost({ url: server.url, token: ann.token, serials: [] });
  await replayer.open();
  replayer.sendHello({ replays: true });
  await replayer.heartbeat();
  project = await TestProject.create(ann.api, 'shop');
  await project.put('main.ts', code);
  if (hasFile) staleCaches = new StaleCaches(path.join(server.dataDir, 'phalanx.db'));
});
afterAll(async () => {
  staleCaches?.close();
  await Promise.all([host.cut(), replayer.cut()]);
  await server.dispose();
  await folders.removeAll();
});

const launch = (command: string, more: object = {}): Promise<ApiReply> =>
  ann.api('POST', '/api/v2/devices/launchAutomation', {
    body: { device_ids: [deviceId], automationId: project.id, command, ...more },
  });

const launchDirect = (): Promise<ApiReply> =>
  ann.api(
    'POST',
    '/api/v2/devices/launchDirectAutomation',
    startBody(deviceId, undefined, { code, jobVariables: { secretWord } }),
  );

const lastRunId = (): string => host.messages('launch').at(-1)?.runs[0]?.run_id ?? '';

async function makeRecord(): Promise<string> {
  await launchDirect();
  const report = recordReport(lastRunId());
  await sendReport(host, report);
  return report.record_id;
}

/** Two groups of one launch, the first with two records. */
async function makeGroups(): Promise<{ id: string; other: string; record: string }> {
  await launchDirect();
  const runId = lastRunId();
  const shows = labelledScreens({ hasIds: true, languages: ['en'], versions: [1], seed: 7 });
  const ids: string[] = [];
  const records: string[] = [];
  for (const label of ['screen 1', 'screen 1', 'screen 2']) {
    const screen = screenReport({ screenshot: null });
    const report = recordReport(runId, { screens: [screen] });
    await sendReport(host, report);
    const raw = JSON.stringify(shows.find((one) => one.label === label)?.tree);
    const place = `/api/v2/hosts/records/${report.record_id}/screens/${screen.screen_id}/tree`;
    await ann.api('PUT', place, { raw, contentType: 'application/json' });
    const ofRecord = async (): Promise<ApiReply> =>
      ann.api('GET', `/api/v2/automation-project/out-of-steps/${report.record_id}/group`);
    await expect.poll(async () => (await ofRecord()).body).toMatchObject({ group_id: expect.any(String) });
    ids.push(stringAt((await ofRecord()).body, 'group_id'));
    records.push(report.record_id);
  }
  return { id: ids[0] ?? '', other: ids[2] ?? '', record: records[0] ?? '' };
}

const startReplay = (): Promise<ApiReply> =>
  ann.api('POST', `/api/v2/automation/replay/${project.id}`, { body: { set: 'golden' } });

const makeProject = (): Promise<TestProject> => TestProject.create(ann.api);

async function makeToken(): Promise<string> {
  return stringAt((await ann.api('POST', '/api/v2/tokens', { body: { name: 'made' } })).body['token'], 'id');
}

const secret = (name: string): string => `/api/v2/automation-project/${project.id}/secrets/${name}`;

/** Makes a job that waits for a phone that is not there. */
const makeJob = (more: object = {}): Promise<ApiReply> =>
  ann.api('POST', '/api/v2/jobs', {
    body: { automation_id: project.id, selector: 'serial=nowhere', ...more },
  });
const jobId = async (): Promise<string> => stringAt((await makeJob()).body['job'], 'id');

const makeSchedule = (): Promise<ApiReply> => {
  const times = { cron: '0 2 * * *', time_zone: 'Europe/Berlin' };
  const body = {
    automation_id: project.id,
    ...times,
    selector: 'serial=nowhere',
    parameters: { secretWord },
  };
  return ann.api('POST', '/api/v2/schedules', { body });
};
const scheduleId = async (): Promise<string> => stringAt((await makeSchedule()).body['schedule'], 'id');

const makeWebhook = (): Promise<ApiReply> =>
  ann.api('POST', '/api/v2/webhooks', {
    // The path of an address may be a secret.
    body: { name: 'alerts', url: `https://receiver.example/${secretWord}`, events: ['run.ended'] },
  });
const webhook = async (): Promise<string> =>
  `/api/v2/webhooks/${stringAt((await makeWebhook()).body['webhook'], 'id')}`;

const recipient = (): string => `/api/v2/automation-project/${project.id}/secret-recipients/${bob.userId}`;
const member = (of: string): string => `/api/v2/${of}/members/${bob.userId}`;
const records = '/api/v2/automation-project/out-of-steps';

interface Example {
  act: () => Promise<ApiReply>;
  /** Caller who does it; default: Ann. */
  by?: 'administrator';
  action: string;
  details?: Record<string, unknown>;
  /** The event may occur in any number, so no request waits until it is written. */
  isWrittenLater?: true;
}

/** Every endpoint that changes something, by its operation. */
const examples: Record<string, Example> = {
  launchAutomation: {
    act: () => launch('start', { jobVariables: { secretWord } }),
    action: 'launch',
    details: { devices: 1 },
  },
  launchDirectAutomation: { act: launchDirect, action: 'launch', details: { devices: 1 } },
  stopAllAutomations: {
    act: () => ann.api('POST', '/api/v2/devices/stopAllAutomations', { body: { device_id: deviceId } }),
    action: 'stop',
    details: { runs: 2 },
  },
  stopRun: {
    act: async () => {
      await launchDirect();
      return ann.api('POST', `/api/v2/runs/${lastRunId()}/stop`);
    },
    action: 'stop',
    details: { runs: 1 },
  },
  createProject: {
    act: () => ann.api('POST', '/api/v2/automation-project', { body: { name: 'new' } }),
    action: 'create_project',
  },
  renameProject: {
    act: () => ann.api('PATCH', `/api/v2/automation-project/${project.id}`, { body: { name: 'store' } }),
    action: 'rename_project',
    details: { name: 'store' },
  },
  deleteProject: { act: async () => (await makeProject()).delete(), action: 'delete_project' },
  putSecret: {
    act: () => ann.api('PUT', secret('PIN'), { body: { value: 'some value' } }),
    action: 'set_secret',
    details: { secret: 'PIN' },
  },
  deleteSecret: {
    act: async () => {
      await ann.api('PUT', secret('OLD'), { body: { value: 'some value' } });
      return ann.api('DELETE', secret('OLD'));
    },
    action: 'delete_secret',
    details: { secret: 'OLD' },
  },
  putProjectMember: {
    act: () =>
      ann.api('PUT', member(`automation-project/${project.id}`), { body: { role: 'shared_editor' } }),
    action: 'share_project',
    details: { user_name: 'bob', role: 'shared_editor' },
  },
  deleteProjectMember: {
    act: () => ann.api('DELETE', member(`automation-project/${project.id}`)),
    action: 'unshare_project',
  },
  acceptShare: {
    act: async () => {
      const { id } = await TestProject.create(bob.api);
      const share = `/api/v2/automation-project/${id}/members/${ann.userId}`;
      await bob.api('PUT', share, { body: { role: 'shared_viewer' } });
      return ann.api('POST', '/api/v2/shares/accept', { body: { kind: 'project', id } });
    },
    action: 'accept_share',
  },
  putSecretRecipient: {
    act: () => ann.api('PUT', recipient()),
    action: 'add_secret_recipient',
    details: { user_name: 'bob' },
  },
  deleteSecretRecipient: {
    act: async () => {
      await ann.api('PUT', recipient());
      return ann.api('DELETE', recipient());
    },
    action: 'remove_secret_recipient',
  },
  putDeviceMember: {
    act: () => ann.api('PUT', member(`devices/${deviceId}`), { body: { role: 'view' } }),
    action: 'share_device',
    details: { user_name: 'bob', role: 'view' },
  },
  deleteDeviceMember: {
    act: () => ann.api('DELETE', member(`devices/${deviceId}`)),
    action: 'unshare_device',
  },
  putHostMember: {
    act: () => ann.api('PUT', member(`hosts/${host.hostId}`), { body: { role: 'view' } }),
    action: 'share_host',
  },
  deleteHostMember: { act: () => ann.api('DELETE', member(`hosts/${host.hostId}`)), action: 'unshare_host' },
  deleteDevice: {
    act: async () => {
      const other = await server.connectHost({ token: ann.token, serials: ['gone'] }, ann.api);
      await other.host.cut();
      await expect.poll(async () => (await newest(ann.api))?.action).toBe('disconnect_host');
      const address = `/api/v2/devices/${other.deviceId}`;
      await expect
        .poll(() => ann.api('GET', address))
        .toMatchObject({ body: { device: { state: 'offline' } } });
      return ann.api('DELETE', address);
    },
    action: 'forget_device',
  },
  renameDevice: {
    act: () => ann.api('PATCH', `/api/v2/devices/${deviceId}`, { body: { name: 'Shelf' } }),
    action: 'rename_device',
    details: { name: 'Shelf' },
  },
  putDeviceLabels: {
    act: () => ann.api('PUT', `/api/v2/devices/${deviceId}/labels`, { body: { labels: { rack: '3' } } }),
    action: 'label_device',
  },
  putHostLabels: {
    act: () => ann.api('PUT', `/api/v2/hosts/${host.hostId}/labels`, { body: { labels: { city: 'x' } } }),
    action: 'label_host',
  },
  startPairing: {
    act: async () => {
      host.requestHabit = 'answer';
      const reply = await ann.api('POST', `/api/v2/hosts/${host.hostId}/pairings`);
      host.requestHabit = 'silent';
      return reply;
    },
    action: 'pair_phone',
  },
  putPool: {
    act: () => ann.api('PUT', '/api/v2/pools/rack-3', { body: { selector: 'rack=3' } }),
    action: 'save_pool',
    details: { selector: 'rack=3' },
  },
  deletePool: { act: () => ann.api('DELETE', '/api/v2/pools/rack-3'), action: 'delete_pool' },
  createJob: {
    act: () => makeJob({ inputs: [{ secretWord }], parameters: { secretWord } }),
    action: 'create_job',
    details: { tasks: 1 },
  },
  cancelJob: {
    act: async () => ann.api('POST', `/api/v2/jobs/${await jobId()}/cancel`),
    action: 'cancel_job',
  },
  resumeJob: {
    act: async () => {
      const id = await jobId();
      await ann.api('POST', `/api/v2/jobs/${id}/cancel`);
      return ann.api('POST', `/api/v2/jobs/${id}/resume`);
    },
    action: 'resume_job',
  },
  deleteJob: {
    act: async () => {
      const id = await jobId();
      await ann.api('POST', `/api/v2/jobs/${id}/cancel`);
      return ann.api('DELETE', `/api/v2/jobs/${id}`);
    },
    action: 'delete_job',
  },
  createSchedule: {
    act: () => makeSchedule(),
    action: 'create_schedule',
    details: { cron: '0 2 * * *', time_zone: 'Europe/Berlin' },
  },
  changeSchedule: {
    act: async () => ann.api('PATCH', `/api/v2/schedules/${await scheduleId()}`, { body: { paused: true } }),
    action: 'change_schedule',
    details: { fields: ['paused'] },
  },
  runSchedule: {
    act: async () => ann.api('POST', `/api/v2/schedules/${await scheduleId()}/run`),
    action: 'run_schedule',
  },
  deleteSchedule: {
    act: async () => ann.api('DELETE', `/api/v2/schedules/${await scheduleId()}`),
    action: 'delete_schedule',
  },
  createWebhook: {
    act: () => makeWebhook(),
    action: 'create_webhook',
    details: { events: ['run.ended'], host: 'receiver.example' },
  },
  changeWebhook: {
    act: async () => ann.api('PATCH', await webhook(), { body: { paused: true } }),
    action: 'change_webhook',
    details: { fields: ['paused'] },
  },
  deleteWebhook: { act: async () => ann.api('DELETE', await webhook()), action: 'delete_webhook' },
  rotateWebhookSecret: {
    act: async () => ann.api('POST', `${await webhook()}/secret`),
    action: 'rotate_webhook_secret',
  },
  testWebhook: { act: async () => ann.api('POST', `${await webhook()}/test`), action: 'test_webhook' },
  replayWebhookDelivery: {
    act: async () => {
      const address = await webhook();
      const { body } = await ann.api('POST', `${address}/test`);
      return ann.api('POST', `${address}/deliveries/${stringAt(body['delivery'], 'id')}/replay`);
    },
    action: 'replay_webhook_delivery',
  },
  deviceInput: {
    act: async () => {
      const asked = host.waitFor('input').then(({ request_id }) => {
        host.sendRaw(Buffer.from(`${JSON.stringify({ type: 'input', request_id })}\n`));
      });
      const body = { type: 'text', text: secretWord };
      const [reply] = await Promise.all([
        ann.api('POST', `/api/v2/devices/${deviceId}/input`, { body }),
        asked,
      ]);
      return reply;
    },
    action: 'touch_device',
    isWrittenLater: true,
  },
  sendFileToDevice: {
    act: async () => {
      const asked = host.waitFor('file').then(({ request_id }) => {
        const stored = { state: 'stored', path: '/sdcard/Download/notes.txt', in_media_store: false };
        host.sendRaw(
          Buffer.from(`${JSON.stringify({ type: 'file', request_id })}\n${JSON.stringify(stored)}`),
        );
      });
      const base64 = Buffer.from(secretWord).toString('base64');
      const body = { upload_id: randomUUID(), name: 'notes.txt', part: 0, is_last: true, base64 };
      const [reply] = await Promise.all([
        ann.api('POST', `/api/v2/devices/${deviceId}/files`, { body }),
        asked,
      ]);
      return reply;
    },
    action: 'send_file',
    isWrittenLater: true,
  },
  deviceAct: {
    act: async () => {
      const asked = host.waitFor('act').then(({ request_id }) => {
        const screen = { captured_at: 1, rotation: 0, width: 1, height: 1, picture: null };
        const tree = { packageName: '', source: '', root: {} };
        const answer = { results: [{ state: 'done' }], captures: 1, settled: true };
        const parts = [{ type: 'act', request_id }, answer, { ...screen, tree }];
        host.sendRaw(Buffer.from(parts.map((part) => JSON.stringify(part)).join('\n')));
      });
      const body = { steps: [{ type: 'type', text: secretWord }] };
      const [reply] = await Promise.all([
        ann.api('POST', `/api/v2/devices/${deviceId}/act`, { body }),
        asked,
      ]);
      return reply;
    },
    action: 'act_on_device',
    isWrittenLater: true,
  },
  leaseDevice: {
    act: () => ann.api('POST', `/api/v2/devices/${deviceId}/lease`, { body: {} }),
    action: 'lease_device',
  },
  endDeviceLease: {
    act: () => ann.api('DELETE', `/api/v2/devices/${deviceId}/lease`),
    action: 'end_lease',
  },
  writeFile: {
    act: () => project.write('notes.txt', secretWord),
    action: 'write_file',
    details: { path: 'notes.txt' },
  },
  replaceFiles: {
    act: async () => project.replace({ 'more.txt': secretWord }, { etag: await project.etag() }),
    action: 'replace_files',
    details: { written: { count: 1, first: ['more.txt'] } },
  },
  renameFile: {
    act: async () => {
      await project.put('before.txt', 'text');
      const body = { path: 'before.txt', new_path: 'after.txt' };
      return project.api('POST', `/api/v2/automation/rename/${project.id}`, { body });
    },
    action: 'rename_file',
    details: { path: 'before.txt', new_path: 'after.txt' },
  },
  deleteFile: { act: () => project.remove('more.txt'), action: 'delete_file', details: { path: 'more.txt' } },
  commit: { act: () => project.commit('all'), action: 'commit' },
  revert: {
    act: async () => {
      const { body } = await project.commits();
      const [newest] = Array.isArray(body['commits']) ? body['commits'] : [];
      return project.revert(stringAt(newest, 'hash'));
    },
    action: 'revert',
  },
  markOutOfSteps: {
    act: async () =>
      ann.api('PATCH', `${records}/${await makeRecord()}/status`, { body: { status: 'solved' } }),
    action: 'mark_record',
    details: { status: 'solved' },
  },
  saveOutOfSteps: {
    act: async () => ann.api('PATCH', `${records}/${await makeRecord()}/save`, { body: { saved: true } }),
    action: 'save_record',
    details: { saved: true },
  },
  deleteOutOfSteps: {
    act: async () => ann.api('DELETE', `/api/v2/records/${await makeRecord()}`),
    action: 'delete_record',
  },
  changeGroup: {
    act: async () =>
      ann.api('PATCH', `/api/v2/groups/${(await makeGroups()).id}`, { body: { status: 'solved' } }),
    action: 'change_group',
    details: { status: 'solved' },
  },
  mergeGroups: {
    act: async () => {
      const { id, other } = await makeGroups();
      return ann.api('POST', `/api/v2/groups/${id}/merge`, { body: { group_ids: [other] } });
    },
    action: 'merge_groups',
  },
  splitGroup: {
    act: async () => {
      const { id, record } = await makeGroups();
      return ann.api('POST', `/api/v2/groups/${id}/split`, { body: { record_ids: [record] } });
    },
    action: 'split_group',
    details: { record_ids: 1 },
  },
  undoGroupChange: {
    act: async () => {
      const { id } = await makeGroups();
      await ann.api('PATCH', `/api/v2/groups/${id}`, { body: { status: 'ignored' } });
      return ann.api('POST', `/api/v2/groups/${id}/undo`);
    },
    action: 'undo_group',
  },
  deleteGroupScreen: {
    act: async () => {
      const { id } = await makeGroups();
      const { body } = await ann.api('GET', `/api/v2/groups/${id}`);
      const [screen] = Array.isArray(body['kept_screens']) ? body['kept_screens'] : [];
      return ann.api('DELETE', `/api/v2/groups/${id}/screens/${screen}`);
    },
    action: 'delete_group_screen',
  },
  startReplay: {
    act: () => startReplay(),
    action: 'replay',
    details: { set: 'golden' },
  },
  stopReplay: {
    act: async () => {
      const id = stringAt((await startReplay()).body['replay'], 'id');
      return ann.api('POST', `/api/v2/replays/${id}/stop`);
    },
    action: 'stop_replay',
  },
  createToken: {
    act: () => ann.api('POST', '/api/v2/tokens', { body: { name: 'CI', scopes: ['read'] } }),
    action: 'create_token',
    details: { scopes: ['read'] },
  },
  deleteToken: {
    act: async () => ann.api('DELETE', `/api/v2/tokens/${await makeToken()}`),
    action: 'delete_token',
  },
  signIn: {
    act: () => {
      const { url } = server;
      const request = { body: { token: ann.token }, headers: { origin: url } };
      return createApiCaller(url, ann.token)('POST', '/api/v2/session', request);
    },
    action: 'sign_in',
  },
  signOut: { act: () => ann.api('DELETE', '/api/v2/session'), action: 'sign_out' },
  createUser: {
    act: () => server.api('POST', '/api/v2/users', { body: { name: 'eve' } }),
    by: 'administrator',
    action: 'create_user',
  },
  updateUser: {
    act: async () => {
      const userId = await server.createUser('dan');
      return server.api('PATCH', `/api/v2/users/${userId}`, { body: { name: 'Daniel', disabled: true } });
    },
    by: 'administrator',
    action: 'update_user',
    details: { name: 'Daniel', disabled: true },
  },
  deleteUser: {
    act: async () => server.api('DELETE', `/api/v2/users/${await server.createUser('leaver')}`),
    by: 'administrator',
    action: 'delete_user',
  },
};

const newest = async (api: ApiCaller): Promise<AuditEntry | undefined> => (await readEntries(api))[0];

describe('what changes something', () => {
  it('has an audit action, and an example here', () => {
    const changing = allRoutes.filter(({ method }) => method !== 'GET');
    expect(changing.filter(({ audit }) => audit === undefined)).toEqual([]);
    const noted = changing.filter(({ audit }) => audit !== null).map(({ operationId }) => operationId);
    expect(noted.toSorted()).toEqual(Object.keys(examples).toSorted());
    const silent = changing.filter(({ audit }) => audit === null).map(({ operationId }) => operationId);
    expect(silent).toEqual([
      'automationLogs',
      'putRunFile',
      'putFilmPart',
      'callRunTasks',
      'checkFile',
      'findSymbol',
      'listCompletions',
      'findReferences',
      'putCapture',
      'proposeFix',
    ]);
  });

  it.each(Object.entries(examples))(
    '%s is in the audit log once it is answered',
    async (operation, example) => {
      const { action, details = {}, by } = example;
      const { status, headers, text } = await example.act();
      expect(status, text).toBeLessThan(300);
      const api = by === 'administrator' ? server.api : ann.api;
      if (example.isWrittenLater) await expect.poll(() => newest(api)).toMatchObject({ action });
      const entry = await newest(api);
      const contract = allRoutes.find(({ operationId }) => operationId === operation);
      expect([contract?.audit ?? '', 'stop']).toContain(action);
      expect(entry).toMatchObject({
        action,
        outcome: 'done',
        code: null,
        address: '127.0.0.1',
        count: 1,
        request_id: headers.get('x-request-id'),
        details,
      });
      expect(entry?.user?.name).toBe(by ?? 'ann');
      expect(entry?.token?.name).toBe(by === 'administrator' ? 'PHALANX_ADMIN_TOKEN' : 'test');
      expect(entry?.subject?.id).toBeTruthy();
      const types = [auditActions[entry?.action ?? 'read'], 'device'];
      expect(types).toContain(entry?.subject?.type);
      expect(staleCaches?.list() ?? []).toEqual([]);
    },
  );

  it('by git is in the audit log with the branches', async () => {
    const folder = folders.make();
    const git = async (...args: string[]): Promise<void> => {
      const { code: exitCode, text } = await runUserGit(folder, args);
      if (exitCode !== 0) throw new Error(text);
    };
    await git('clone', '-q', cloneUrl(server, ann.token, project.id), '.');
    await git('commit', '-q', '--allow-empty', '-m', 'empty');
    await git('push', '-q', 'origin', 'HEAD:refs/heads/side');
    expect(await newest(ann.api)).toMatchObject({
      action: 'push',
      outcome: 'done',
      subject: { id: project.id, name: 'store' },
      details: { ref_count: 1, refs: [{ name: 'refs/heads/side' }] },
    });
    await git('push', '-q', 'origin', 'HEAD:main');
    expect(await newest(ann.api)).toMatchObject({
      action: 'push',
      outcome: 'done',
      user: { name: 'ann' },
      token: { name: 'test' },
      details: { refs: [{ name: 'refs/heads/main' }] },
    });
  });

  it('on the side of hosts is their coming and going', async () => {
    const other = await server.connectHost({ token: ann.token, serials: ['other'] }, ann.api);
    await other.host.cut();
    const seen = (): Promise<AuditEntry[]> => readEntries(ann.api, { subject_id: other.host.hostId });
    await expect
      .poll(async () => (await seen()).map(({ action }) => action))
      .toEqual(['disconnect_host', 'connect_host']);
    expect((await seen())[1]).toMatchObject({
      user: { name: 'ann' },
      address: expect.stringContaining('127.0.0.1'),
    });
  });

  it('leaves no secret, no code and no parameter in it', async () => {
    const { text } = await server.api('GET', '/api/v2/audit/export');
    expect(text).toContain('main.ts');
    expect(text).not.toContain(secretWord);
    expect(text).not.toContain('phx_');
  });
});

describe.runIf(hasFile)('a change of what servers cache says so in its transaction', () => {
  const signInAs = async (token: string): Promise<string> => {
    const request = { body: { token }, headers: { origin: server.url } };
    const { headers } = await createApiCaller(server.url, token)('POST', '/api/v2/session', request);
    return headers.get('set-cookie')?.split(';')[0] ?? '';
  };

  it('also when rows go with a user, a phone or a token', async () => {
    const carl = await server.createCaller('carl');
    const { host: own, deviceId: phone } = await server.connectHost(
      { token: carl.token, serials: ['carl'] },
      carl.api,
    );
    const carls = await TestProject.create(carl.api);
    const put = async (address: string, body: object): Promise<void> => {
      expect((await carl.api('PUT', `/api/v2/${address}`, { body })).status).toBeLessThan(300);
    };
    await put(`automation-project/${carls.id}/members/${bob.userId}`, { role: 'shared_editor' });
    await put(`devices/${phone}/members/${bob.userId}`, { role: 'launch' });
    const accepted = await bob.api('POST', '/api/v2/shares/accept', { body: { kind: 'device', id: phone } });
    expect(accepted.status).toBe(200);
    await put(`devices/${phone}/labels`, { labels: { rack: '1' } });
    await put(`devices/${phone}/labels`, { labels: { rack: '2' } });
    await put('pools/mine', { selector: 'rack=1' });
    await put('pools/mine', { selector: 'rack=2' });
    await carl.api('POST', `/api/v2/devices/${phone}/lease`, { body: {} });
    await carl.api('POST', `/api/v2/devices/${phone}/lease`, { body: {} });
    const headers = { cookie: await signInAs(carl.token), origin: server.url };
    expect((await fetch(`${server.url}/api/v2/session`, { method: 'DELETE', headers })).status).toBe(200);
    await signInAs(carl.token);
    expect(staleCaches?.list()).toEqual([]);
    await own.cut();
    const gone = await server.api('DELETE', `/api/v2/users/${carl.userId}?projects=delete`);
    expect(gone.status).toBe(200);
    expect(staleCaches?.list()).toEqual([]);
  });

  it('whatever the change is', () => {
    // A project stays with its owner.
    expect(staleCaches?.listUnseen()).toEqual(['update of owner_id on project']);
  });
});

it.skipIf(!hasFile)('what can not be written into the audit log is not done', async () => {
  const sqlite = new Sqlite(path.join(server.dataDir, 'phalanx.db'));
  sqlite.exec(`CREATE TRIGGER refusing BEFORE INSERT ON audit_entry WHEN NEW.outcome = 'done'
      BEGIN SELECT RAISE(ABORT, 'refused by the test'); END`);
  const share = `/api/v2/automation-project/${project.id}/members/${bob.userId}`;
  const tried = [
    () => ann.api('POST', '/api/v2/automation-project', { body: { name: 'never' } }),
    () => ann.api('PATCH', `/api/v2/automation-project/${project.id}`, { body: { name: 'never' } }),
    () => project.write('never.txt', 'never'),
    () => ann.api('POST', '/api/v2/tokens', { body: { name: 'never' } }),
    () => ann.api('PUT', share, { body: { role: 'shared_viewer' } }),
    () => ann.api('PUT', `/api/v2/devices/${deviceId}/members/${bob.userId}`, { body: { role: 'view' } }),
    () => server.api('POST', '/api/v2/users', { body: { name: 'never' } }),
  ];
  try {
    for (const attempt of tried) expect((await attempt()).status).toBe(500);
  } finally {
    sqlite.exec('DROP TRIGGER refusing');
    sqlite.close();
  }
  const places = ['automation-project', `automation/files/${project.id}`, 'tokens'];
  const texts = await Promise.all(
    places.map(async (place) => (await ann.api('GET', `/api/v2/${place}`)).text),
  );
  texts.push((await server.api('GET', '/api/v2/users')).text);
  expect(texts.join(' ')).not.toContain('never');
  expect((await ann.api('GET', `/api/v2/devices/${deviceId}/members`)).text).not.toContain(bob.userId);
  expect((await ann.api('GET', `/api/v2/automation-project/${project.id}/members`)).text).not.toContain(
    bob.userId,
  );
});

describe('what changes nothing', () => {
  it('is not in the audit log', async () => {
    const before = await newest(ann.api);
    await ann.api('GET', '/api/v2/devices');
    await project.write('bad.ts', 'const a: number = "";');
    await project.remove('nothing.txt');
    await ann.api('POST', '/api/v2/devices/stopAllAutomations', { body: { device_id: deviceId } });
    await ann.api('POST', '/api/v2/devices/stopAllAutomations', { body: { device_id: deviceId } });
    const after = (await readEntries(ann.api)).filter(({ id }) => id > (before?.id ?? ''));
    expect(after.filter(({ action }) => action !== 'stop')).toEqual([]);
    expect(after.length).toBeLessThan(2);
  });

  it('also when a launch is repeated', async () => {
    const body = startBody(deviceId);
    for (let time = 0; time < 3; time++)
      await ann.api('POST', '/api/v2/devices/launchDirectAutomation', body);
    const launches = await readEntries(ann.api, { action: 'launch' });
    expect(launches.filter(({ details }) => details['launch_id'] === body.body['launch_id'])).toHaveLength(1);
  });
});
