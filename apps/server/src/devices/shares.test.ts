import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

import { TestProject } from '../projects/testing/test-projects.ts';
import { createApiCaller, type ApiCaller, type ApiReply } from '../testing/api-caller.ts';
import { EventReader } from '../testing/event-reader.ts';
import { recordReport, tell } from '../testing/record-reports.ts';
import { deviceReport, type TestHost } from '../testing/test-host.ts';
import { adminToken, startBody, stringAt, TestServer } from '../testing/test-server.ts';

vi.setConfig({ testTimeout: 30_000 });

const callers = ['owner', 'launch', 'view', 'launch by the host', 'stranger', 'limited token'] as const;
type Caller = (typeof callers)[number];

let server: TestServer;
let host: TestHost;
let hostId: string;
let deviceId: string;
let project: TestProject;
let users: Record<Exclude<Caller, 'limited token'>, { userId: string; token: string; api: ApiCaller }>;
let limitedToken: string;

const apiOf = (caller: Caller): ApiCaller =>
  caller === 'limited token'
    ? (...args) => createApiCaller(server.url, limitedToken)(...args)
    : users[caller].api;
const idOf = (caller: Exclude<Caller, 'limited token'>): string => users[caller].userId;

const share = (target: string, caller: Exclude<Caller, 'limited token'>, role: string): Promise<ApiReply> =>
  users.owner.api('PUT', `/api/v2/${target}/members/${idOf(caller)}`, { body: { role } });

beforeAll(async () => {
  server = await TestServer.start({ ackTimeoutMs: 2000, sweepMs: 20 });
  const made = await Promise.all(callers.slice(1, 5).map((name) => server.createCaller(name)));
  const [launch, view, byHost, stranger] = made;
  if (!launch || !view || !byHost || !stranger) throw new Error('no callers');
  const { body } = await server.api('GET', '/api/v2/me');
  const owner = { userId: stringAt(body['user'], 'id'), token: adminToken, api: server.api };
  users = { owner, launch, view, 'launch by the host': byHost, stranger };
  ({ host, deviceId } = await server.connectHost());
  ({ hostId } = host);
  project = await TestProject.create(server.api);
  await project.put('main.ts', 'console.log(1);');
  for (const { userId } of made)
    await server.api('PUT', `/api/v2/automation-project/${project.id}/members/${userId}`, {
      body: { role: 'shared_editor' },
    });
  limitedToken = (await server.createToken({ project_ids: [project.id] })).secret;
});
afterAll(async () => {
  await host.cut();
  await server.dispose();
});
beforeEach(async () => {
  users.owner.api = server.api;
  // Else it would count as gone, when the tests take their time.
  await host.heartbeat();
  await share(`devices/${deviceId}`, 'launch', 'launch');
  await share(`devices/${deviceId}`, 'view', 'view');
  await share(`hosts/${hostId}`, 'launch by the host', 'launch');
  await users.owner.api('POST', '/api/v2/devices/stopAllAutomations', { body: { device_id: deviceId } });
});

const launchDirect = (api: ApiCaller, launchId?: string): Promise<ApiReply> =>
  api('POST', '/api/v2/devices/launchDirectAutomation', startBody(deviceId, launchId));
const launchProject = (api: ApiCaller, command = 'start'): Promise<ApiReply> =>
  api('POST', '/api/v2/devices/launchAutomation', {
    body: { device_ids: [deviceId], automationId: project.id, command },
  });
const stopAll = (api: ApiCaller): Promise<ApiReply> =>
  api('POST', '/api/v2/devices/stopAllAutomations', { body: { device_id: deviceId } });
const readLogs = (api: ApiCaller, automationId: string): Promise<ApiReply> =>
  api('POST', '/api/v2/devices/automationLogs', {
    body: { device_id: deviceId, automation_ids: [automationId] },
  });
const lastRunId = (): string => host.messages('launch').at(-1)?.runs[0]?.run_id ?? '';
const visibleRuns = async (api: ApiCaller): Promise<string[]> => {
  const { body } = await api('GET', `/api/v2/runs?device_id=${deviceId}`);
  return (body['runs'] as unknown[]).map((run) => stringAt(run, 'run_id'));
};
const messagesOf = ({ body }: ApiReply): string[] =>
  (body['logs'] as unknown[]).map((entry) => stringAt(entry, 'message'));

async function screenshot(api: ApiCaller): Promise<ApiReply> {
  const asked = host.waitFor('screenshot').then(({ request_id }) => {
    host.sendRaw(Buffer.from(`${JSON.stringify({ type: 'screenshot', request_id })}\n`));
  });
  const reply = await api('GET', `/api/v2/devices/${deviceId}/screenshot`);
  if (reply.status === 200) await asked;
  return reply;
}

/** In the order of `callers`. */
const endpoints: readonly [
  does: string,
  statuses: readonly number[],
  ask: (api: ApiCaller) => Promise<ApiReply>,
][] = [
  ['reads the device', [200, 200, 200, 200, 404, 200], (api) => api('GET', `/api/v2/devices/${deviceId}`)],
  [
    'forgets the device',
    [409, 403, 403, 403, 404, 403],
    (api) => api('DELETE', `/api/v2/devices/${deviceId}`),
  ],
  ['takes a screenshot', [200, 200, 200, 200, 404, 200], screenshot],
  ['starts direct code', [200, 200, 400, 200, 400, 403], (api) => launchDirect(api)],
  ['starts a project', [200, 200, 400, 200, 400, 200], (api) => launchProject(api)],
  ['stops a project', [200, 200, 400, 200, 400, 200], (api) => launchProject(api, 'stop')],
  ['stops everything', [200, 200, 400, 200, 400, 403], stopAll],
  ['reads logs', [200, 200, 200, 200, 404, 200], (api) => readLogs(api, project.id)],
  [
    'lists the members',
    [200, 200, 200, 200, 404, 200],
    (api) => api('GET', `/api/v2/devices/${deviceId}/members`),
  ],
  [
    'shares the device',
    [200, 403, 403, 403, 404, 403],
    (api) =>
      api('PUT', `/api/v2/devices/${deviceId}/members/${idOf('launch')}`, { body: { role: 'launch' } }),
  ],
  [
    'ends a share of the device',
    [200, 200, 403, 403, 404, 403],
    (api) => api('DELETE', `/api/v2/devices/${deviceId}/members/${idOf('launch')}`),
  ],
  [
    'lists the members of the host',
    [200, 404, 404, 200, 404, 200],
    (api) => api('GET', `/api/v2/hosts/${hostId}/members`),
  ],
  [
    'shares the host',
    [200, 404, 404, 403, 404, 403],
    (api) => api('PUT', `/api/v2/hosts/${hostId}/members/${idOf('view')}`, { body: { role: 'view' } }),
  ],
  [
    'ends a share of the host',
    [200, 404, 404, 200, 404, 403],
    (api) => api('DELETE', `/api/v2/hosts/${hostId}/members/${idOf('launch by the host')}`),
  ],
];
const cases = endpoints.flatMap(([does, statuses, ask]) =>
  callers.map((caller, index) => ({ caller, does, status: statuses[index], ask })),
);

describe('a phone that is shared', () => {
  it.each(cases)('$caller $does: $status', async ({ caller, status, ask }) => {
    const reply = await ask(apiOf(caller));
    expect(reply.status, reply.text).toBe(status);
    // A share that the case has made.
    await users.owner.api('DELETE', `/api/v2/hosts/${hostId}/members/${idOf('view')}`);
  });

  it('is listed for everybody who has a part in it, with their role and its owner', async () => {
    const rolesOf = async (caller: Caller) => {
      const { body } = await apiOf(caller)('GET', '/api/v2/devices');
      return (body['devices'] as { role: string; owner: unknown }[]).map(({ role, owner }) => [role, owner]);
    };
    const { name } = (await users.owner.api('GET', '/api/v2/me')).body['user'] as { name: string };
    const owner = { id: idOf('owner'), name };
    const expected = { owner: 'owner', launch: 'launch', view: 'view', 'launch by the host': 'launch' };
    for (const [caller, role] of Object.entries(expected))
      expect(await rolesOf(caller as Caller)).toEqual([[role, owner]]);
    expect(await rolesOf('stranger')).toEqual([]);
  });

  it('by its host is shared with the phones that come later; hosts are listed with their phones and the role', async () => {
    const hostsOf = async (caller: Caller) => (await apiOf(caller)('GET', '/api/v2/hosts')).body['hosts'];
    host.devices.push(deviceReport('later'));
    host.send({ type: 'devices', devices: host.devices });
    await host.heartbeat();
    const { body } = await apiOf('launch by the host')('GET', '/api/v2/devices');
    expect(body['devices']).toHaveLength(2);
    const row = { id: hostId, connected: true, since: expect.any(Number), devices: { total: 2, ready: 2 } };
    expect(await hostsOf('launch by the host')).toMatchObject([{ ...row, role: 'launch' }]);
    expect(await hostsOf('owner')).toMatchObject([{ ...row, role: 'owner' }]);
    expect(await hostsOf('launch')).toEqual([]);
  });

  it('gives the stronger of the two roles', async () => {
    await share(`hosts/${hostId}`, 'view', 'launch');
    expect((await launchDirect(users.view.api)).status).toBe(200);
    await users.owner.api('DELETE', `/api/v2/hosts/${hostId}/members/${idOf('view')}`);
    expect((await launchDirect(users.view.api)).status).toBe(400);
  });

  it.each([
    ['the owner', () => idOf('owner'), 400, 'invalid_request'],
    ['an unknown user', () => crypto.randomUUID(), 404, 'user_not_found'],
  ] as const)('is not shared with %s', async (_who, userId, status, code) => {
    const path = `/api/v2/devices/${deviceId}/members/${userId()}`;
    const reply = await users.owner.api('PUT', path, { body: { role: 'view' } });
    expect([reply.status, reply.body['code']]).toEqual([status, code]);
  });
});

describe('the members', () => {
  it('are listed page by page, the owner first', async () => {
    const seen: unknown[] = [];
    for (let query = '?limit=1'; query !== '';) {
      const { body } = await users.view.api('GET', `/api/v2/devices/${deviceId}/members${query}`);
      seen.push(...(body['members'] as unknown[]));
      query = body['next_cursor'] === null ? '' : `?limit=1&cursor=${stringAt(body, 'next_cursor')}`;
    }
    expect(seen).toMatchObject([
      { user_id: idOf('owner'), role: 'owner' },
      ...(['launch', 'view'] as const)
        .map((caller) => ({ user_id: idOf(caller), name: caller, role: caller }))
        .sort((one, other) => (one.user_id < other.user_id ? -1 : 1)),
    ]);
  });
});

describe('direct code on the phone of somebody else', () => {
  it('is its launcher’s: nobody else sees its run, its logs or its launch ID, only that and by whom the phone is busy', async () => {
    const launchId = crypto.randomUUID();
    expect((await launchDirect(users.launch.api, launchId)).status).toBe(200);
    const runId = lastRunId();
    await host.log(runId, ['secret']);
    expect(await visibleRuns(users.launch.api)).toContain(runId);
    expect(messagesOf(await readLogs(users.launch.api, launchId))).toEqual(['secret']);
    for (const caller of ['owner', 'view', 'launch by the host'] as const) {
      expect(await visibleRuns(apiOf(caller))).not.toContain(runId);
      expect((await apiOf(caller)('GET', `/api/v2/runs/${runId}`)).status).toBe(404);
      expect(messagesOf(await readLogs(apiOf(caller), launchId))).toEqual([]);
      const { body } = await apiOf(caller)('GET', `/api/v2/devices/${deviceId}`);
      expect(body['device']).toMatchObject({
        state: 'busy',
        running: [{ run_id: runId, automation_id: null, user: { id: idOf('launch'), name: 'launch' } }],
      });
    }
  });

  it('is driven by the owner’s host: its end and its records count, after a reconnection and a restart too', async () => {
    expect((await launchDirect(users.launch.api)).status).toBe(200);
    const runId = lastRunId();
    await host.cut();
    await server.restart();
    users.owner.api = server.api;
    host.url = server.url;
    await host.connect();
    const status = async () => {
      const { body } = await users.launch.api('GET', `/api/v2/runs/${runId}`);
      return stringAt(body['run'], 'status');
    };
    expect(await status()).toBe('running');
    const report = recordReport(runId);
    expect(await tell(host, report)).toEqual([]);
    const { body } = await users.launch.api('GET', '/api/v2/automation-project/out-of-steps');
    expect(body['result']).toMatchObject({ out_of_steps_id: report.record_id });
    host.report(runId, 'completed');
    await host.heartbeat();
    expect(await status()).toBe('completed');
    expect(await visibleRuns(users.owner.api)).not.toContain(runId);
  });
});

describe('a shared project on a shared phone', () => {
  it('is seen with its logs by all who have a part in both', async () => {
    expect((await launchProject(users.launch.api)).status).toBe(200);
    const runId = lastRunId();
    await host.log(runId, ['for all']);
    for (const caller of ['owner', 'launch', 'view', 'launch by the host'] as const) {
      expect(await visibleRuns(apiOf(caller)), caller).toContain(runId);
      expect((await apiOf(caller)('GET', `/api/v2/runs/${runId}`)).status).toBe(200);
      expect(messagesOf(await readLogs(apiOf(caller), project.id))).toContain('for all');
    }
    expect(await visibleRuns(users.stranger.api)).toEqual([]);
    const member = `/api/v2/automation-project/${project.id}/members/${idOf('view')}`;
    await users.owner.api('DELETE', member);
    expect(await visibleRuns(users.view.api)).not.toContain(runId);
    expect((await users.view.api('GET', `/api/v2/runs/${runId}`)).status).toBe(404);
    expect(messagesOf(await readLogs(users.view.api, project.id))).toEqual([]);
    await users.owner.api('PUT', member, { body: { role: 'shared_editor' } });
  });

  it('is stopped by those who may launch it, direct code by its launcher and the owner', async () => {
    await launchDirect(users.owner.api);
    const ownRun = lastRunId();
    await launchDirect(users['launch by the host'].api);
    const foreignRun = lastRunId();
    await launchProject(users.owner.api);
    const projectRun = lastRunId();
    expect((await stopAll(users.launch.api)).body['message']).toBe('Stopped 1 automation.');
    expect(host.messages('stop').at(-1)?.run_ids).toEqual([projectRun]);
    expect((await stopAll(users.owner.api)).body['message']).toBe('Stopped 2 automations.');
    expect(host.messages('stop').at(-1)?.run_ids.toSorted()).toEqual([ownRun, foreignRun].toSorted());
  });
});

describe('the events of a shared phone', () => {
  const runOf = (data: unknown): unknown => (data as { run?: { run_id: string } }).run?.run_id;

  it('reach its members as they may see them, and end with the share at once', async () => {
    const readers = new Map<Caller, EventReader>();
    for (const caller of ['owner', 'launch', 'view', 'stranger'] as const)
      readers.set(caller, await EventReader.open(`${server.url}/api/v2/events`, users[caller].token));
    const seenBy = (caller: Caller, runId: string): boolean =>
      (readers.get(caller)?.received ?? []).some(({ data }) => runOf(data) === runId);
    await launchDirect(users.launch.api);
    const direct = lastRunId();
    await launchProject(users.launch.api);
    const shared = lastRunId();
    for (const caller of ['owner', 'launch', 'view'] as const)
      await expect.poll(() => seenBy(caller, shared)).toBe(true);
    expect((['owner', 'launch', 'view'] as const).map((caller) => seenBy(caller, direct))).toEqual([
      false,
      true,
      false,
    ]);
    expect(readers.get('view')?.received.some(({ event }) => event === 'device')).toBe(true);

    await users.owner.api('DELETE', `/api/v2/devices/${deviceId}/members/${idOf('view')}`);
    const before = readers.get('view')?.received.length;
    await launchProject(users.launch.api, 'stop');
    await launchProject(users.launch.api);
    const later = lastRunId();
    await expect.poll(() => seenBy('owner', later)).toBe(true);
    expect(readers.get('view')?.received).toHaveLength(before ?? -1);
    expect(readers.get('stranger')?.received).toEqual([]);
    for (const reader of readers.values()) reader.close();
  });
});

describe('a share that has ended', () => {
  it('leaves what runs to its end, and lets nothing new begin', async () => {
    await launchDirect(users.launch.api);
    const runId = lastRunId();
    await users.owner.api('DELETE', `/api/v2/devices/${deviceId}/members/${idOf('launch')}`);
    expect((await launchDirect(users.launch.api)).body).toMatchObject({ code: 'devices_unavailable' });
    expect((await users.launch.api('GET', `/api/v2/devices/${deviceId}`)).status).toBe(404);
    host.report(runId, 'completed');
    await host.heartbeat();
    const { body } = await users.launch.api('GET', `/api/v2/runs/${runId}`);
    expect(body['run']).toMatchObject({ status: 'completed' });
  });
});
