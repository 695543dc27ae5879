import { randomUUID } from 'node:crypto';
import {
  allRoutes,
  appRefusalStart,
  hostQuestions,
  type RouteContract,
  scopes,
  type ServerMessage,
} from '@phalanx/protocol';
import type { TSchema } from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestProject } from '../../code/projects/testing/test-projects.ts';
import { type ApiCaller, type ApiReply, createApiCaller } from '../../testing/api-caller.ts';
import type { TestHost } from '../../testing/test-host.ts';
import { TestServer } from '../../testing/test-server.ts';

const own = 'OWN-PHONE-1';
const foreign = 'FOREIGN-PHONE-2';
/** ID used in the examples of the contracts. */
const exampleId = '01a1ff14-6b1c-7c33-9d1a-0f2a6a3c5e77';

let server: TestServer;
let host: TestHost;
let ownId: string;
let foreignId: string;
let foreignRun: string;
let project: TestProject;

beforeAll(async () => {
  server = await TestServer.start();
  const connected = await server.connectHost({ serials: [own, foreign] });
  host = connected.host;
  [ownId = '', foreignId = ''] = connected.deviceIds;
  project = await TestProject.create(server.api, 'checkout');
  await project.put('main.ts', 'console.log(1);');
  foreignRun = (await server.startRun(host, foreignId)).runId;
  const labels = (id: string, team: string): Promise<ApiReply> =>
    server.api('PUT', `/api/v2/devices/${id}/labels`, { body: { labels: { team } } });
  await labels(ownId, 'shop');
  await labels(foreignId, 'bank');
});
afterAll(async () => {
  await host.cut();
  await server.dispose();
});

async function limited(limit: object): Promise<ApiCaller> {
  const { secret } = await server.createToken({ scopes: [...scopes], ...limit });
  return (...given) => createApiCaller(server.url, secret)(...given);
}

const textsOf = (schema: TSchema | undefined): string[] =>
  Object.keys(Object(Reflect.get(schema ?? {}, 'properties')));

/** Returns requests that name a phone, run, project or host wherever the route can. */
function requestsOf(route: RouteContract, phoneId = foreignId): { path: string; body: unknown }[] {
  const ids = [phoneId, foreignRun, project.id, host.hostId, randomUUID()];
  const query = new URLSearchParams(
    textsOf(route.query).flatMap((name) => {
      if (name === 'device_id') return [[name, phoneId]];
      if (name === 'run_id') return [[name, foreignRun]];
      if (name === 'selector') return [[name, `serial=${foreign}`]];
      return name === 'automation_id' ? [[name, project.id]] : [];
    }),
  ).toString();
  return ids.map((id) => {
    const path = route.path.replaceAll(/:\w+/g, encodeURIComponent(id));
    return { path: `${path}${query === '' ? '' : `?${query}`}`, body: bodyOf(route, id, phoneId) };
  });
}

function bodyOf(route: RouteContract, id: string, phoneId: string): unknown {
  if (route.body === undefined) return undefined;
  const given = JSON.parse(JSON.stringify(route.bodyExample ?? {}).replaceAll(exampleId, id));
  const names = textsOf(route.body);
  return {
    ...given,
    ...(names.includes('device_id') ? { device_id: phoneId } : {}),
    ...(names.includes('device_ids') ? { device_ids: [phoneId] } : {}),
    ...(names.includes('automation_id') ? { automation_id: project.id } : {}),
    ...(names.includes('automationId') ? { automationId: project.id } : {}),
    ...(names.includes('automation_ids') ? { automation_ids: [project.id] } : {}),
    ...(names.includes('command') ? { command: 'start' } : {}),
    ...(names.includes('launch_id') ? { launch_id: randomUUID(), code: '1' } : {}),
    ...(names.includes('labels') ? { labels: { team: 'mine' } } : {}),
  };
}

const toForeign = (): number =>
  host.received.filter((message) => JSON.stringify(message).includes(foreign)).length;

describe('a token that is limited to phones', () => {
  it.each([
    ['by a label', () => ({ selector: 'team=shop' })],
    ['by an ID', () => ({ device_ids: [ownId] })],
  ])('%s reaches no other phone by any operation of the API', async (_, limit) => {
    const api = await limited(limit());
    const before = toForeign();
    const open = new Set<string>();
    for (const route of allRoutes.filter(({ scope }) => scope !== null))
      for (const { path, body } of requestsOf(route)) {
        if (route.operationId === 'deleteToken') continue;
        const reply = await api(route.method, path, body === undefined ? {} : { body });
        if (reply.body['code'] !== 'forbidden') open.add(route.operationId);
        if (reply.status >= 400) continue;
        expect([route.operationId, reply.text.includes(foreignId) || reply.text.includes(foreign)]).toEqual([
          route.operationId,
          false,
        ]);
      }
    expect(toForeign()).toBe(before);
    expect(await server.run(foreignRun)).toMatchObject({ status: 'running' });
    const { body } = await server.api('GET', `/api/v2/devices/${foreignId}`);
    expect(body['device']).toMatchObject({ labels: { team: 'bank' }, lease: null });
    for (const operation of ['listDevices', 'launchAutomation', 'getRun', 'deviceInput', 'automationLogs'])
      expect([...open]).toContain(operation);
    for (const operation of ['createJob', 'createSchedule', 'changeSchedule'])
      expect([...open]).toContain(operation);
    for (const operation of ['events', 'outOfSteps', 'createToken', 'putPool', 'createWebhook'])
      expect([...open]).not.toContain(operation);
  });

  it('does with its own phone what it may', async () => {
    const api = await limited({ selector: 'team=shop' });
    const listed = await api('GET', '/api/v2/devices');
    expect(listed.body['devices']).toMatchObject([{ device_id: ownId }]);
    expect((await api('GET', '/api/v2/devices?selector=model~Pixel')).body['devices']).toHaveLength(1);
    const body = { automationId: project.id, command: 'start' };
    const path = '/api/v2/devices/launchAutomation';
    const started = await api('POST', path, { body: { ...body, selector: 'model~Pixel' } });
    expect(started.body['devices']).toMatchObject([{ device_id: ownId, outcome: 'started' }]);
    const runs = await api('GET', `/api/v2/runs?device_id=${ownId}`);
    expect(runs.body['runs']).toHaveLength(1);
    expect((await api('GET', '/api/v2/runs')).body['code']).toBe('forbidden');
    const stopped = await api('POST', path, { body: { ...body, device_ids: [ownId], command: 'stop' } });
    expect(stopped.status).toBe(200);
    const both = { ...body, device_ids: [ownId, foreignId] };
    expect((await api('POST', path, { body: both })).body['code']).toBe('devices_unavailable');
    expect((await api('HEAD', `/api/v2/devices/${foreignId}/screenshot`)).status).toBe(404);
    expect((await api('GET', '/api/v2/me')).body['token']).toMatchObject({ selector: 'team=shop' });
  });

  it('loses a phone with its label', async () => {
    const api = await limited({ selector: 'team=night' });
    const put = (team: string): Promise<ApiReply> =>
      server.api('PUT', `/api/v2/devices/${ownId}/labels`, { body: { labels: { team } } });
    expect((await api('GET', `/api/v2/devices/${ownId}`)).status).toBe(404);
    await put('night');
    await expect.poll(async () => (await api('GET', `/api/v2/devices/${ownId}`)).status).toBe(200);
    await put('shop');
    await expect.poll(async () => (await api('GET', `/api/v2/devices/${ownId}`)).status).toBe(404);
  });

  it('launches on no more phones at once than it may', async () => {
    const api = await limited({ max_phones: 1 });
    const path = '/api/v2/devices/launchAutomation';
    const body = { automationId: project.id, command: 'start' };
    const launch = (more: object): Promise<ApiReply> => api('POST', path, { body: { ...body, ...more } });
    for (const more of [
      { device_ids: [ownId, foreignId] },
      { selector: 'model~Pixel' },
      { selector: 'model~Pixel', count: 2 },
    ])
      expect((await launch(more)).body['code']).toBe('forbidden');
    expect((await launch({ device_ids: [ownId, ownId] })).status).toBe(200);
  });

  it('is made of what selects phones, is told in the audit log, and is no host', async () => {
    const make = (body: object): Promise<ApiReply> =>
      server.api('POST', '/api/v2/tokens', { body: { name: 'limited', ...body } });
    for (const body of [
      { selector: 'nonsense' },
      { device_ids: ['a|b'] },
      { device_ids: ['a,b'] },
      { max_phones: 0 },
    ])
      expect((await make(body)).status).toBe(400);
    await make({ selector: 'team=shop', device_ids: [ownId], max_phones: 3 });
    const selector = `team=shop,id=${ownId}`;
    const { body } = await server.api('GET', '/api/v2/audit?action=create_token&limit=1');
    expect(body['entries']).toMatchObject([{ details: { selector, max_phones: 3 } }]);
  });
});

describe('a token that is limited to apps', () => {
  const apps = ['com.example.bank.*', 'com.example.shop'];
  const isOfPhone = ({ type }: ServerMessage): boolean =>
    type === 'launch' || (type in hostQuestions && type !== 'replay' && type !== 'lease');

  it('reaches a phone by no operation without its host being told of the limit', async () => {
    const api = await limited({ apps });
    const before = host.received.length;
    host.requestHabit = 'answer';
    for (const route of allRoutes.filter(({ scope }) => scope !== null))
      for (const { path, body } of requestsOf(route, ownId)) {
        if (route.operationId === 'deleteToken') continue;
        await api(route.method, path, body === undefined ? {} : { body });
      }
    host.requestHabit = 'silent';
    const told = host.received.slice(before).filter(isOfPhone);
    for (const message of told)
      expect([message.type, Reflect.get(message, 'app_limit')]).toEqual([
        message.type,
        { apps, token: 'test' },
      ]);
    expect([...new Set(told.map(({ type }) => type))].toSorted()).toEqual(
      expect.arrayContaining(['act', 'apps', 'health', 'input', 'launch', 'screen', 'screenshot']),
    );
    await server.api('POST', '/api/v2/devices/stopAllAutomations', { body: { device_id: ownId } });
  });

  it.each([
    ['POST', '/act', { steps: [{ type: 'launch', package_name: 'com.other' }] }, 'act'],
    ['POST', '/input', { type: 'launch_app', package_name: 'com.other' }, 'input'],
    ['GET', '/screen?view=compact', undefined, 'screen'],
    ['GET', '/screenshot', undefined, 'screenshot'],
  ] as const)('is told by %s %s what it is limited to', async (method, path, body, type) => {
    const api = await limited({ apps });
    const asked = host.waitFor(type);
    const reply = api(method, `/api/v2/devices/${ownId}${path}`, body === undefined ? {} : { body });
    const { request_id } = await asked;
    const reason = 'The token "test" is limited to com.example.shop: com.other is in front';
    host.send({ type: 'request_failed', request_id, message: `${appRefusalStart}${reason}.` });
    const message = expect.stringContaining(reason);
    expect(await reply).toMatchObject({ status: 403, body: { code: 'app_not_allowed', message } });
  });

  it('is made of packages, and told with its limit', async () => {
    const make = (given: unknown): Promise<ApiReply> =>
      server.api('POST', '/api/v2/tokens', { body: { name: 'limited', apps: given } });
    for (const given of [[], ['android'], ['com.*.x'], ['*'], ['com.example;reboot']])
      expect((await make(given)).status).toBe(400);
    const made = await make(['com.example.shop', 'com.example.bank', 'com.example.shop']);
    const sorted = ['com.example.bank', 'com.example.shop'];
    expect(made.body['token']).toMatchObject({ apps: sorted, selector: null });
    const { body } = await server.api('GET', '/api/v2/audit?action=create_token&limit=1');
    expect(body['entries']).toMatchObject([{ details: { apps: sorted } }]);
  });

  it('reaches no phone of a host that does not know such limits', async () => {
    await host.cut();
    await host.open();
    host.sendHello({ protocol_version: 8 });
    await host.heartbeat();
    const api = await limited({ apps });
    const body = { automationId: project.id, command: 'start', device_ids: [ownId] };
    const launched = await api('POST', '/api/v2/devices/launchAutomation', { body });
    expect(launched.body).toMatchObject({
      code: 'devices_unavailable',
      message: expect.stringContaining('does not limit tokens to apps'),
    });
    const tap = { body: { type: 'tap', x: 1, y: 1 } };
    const touched = await api('POST', `/api/v2/devices/${ownId}/input`, tap);
    expect(touched.body['message']).toContain('its host is of an earlier release');
  });
});
