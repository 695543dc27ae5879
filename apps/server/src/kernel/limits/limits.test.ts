import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorTable, type UsageRow } from '@phalanx/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createApiCaller, type ApiCaller, type ApiReply } from '../../testing/api-caller.ts';
import { adminToken, startBody, TestServer } from '../../testing/test-server.ts';
import { limitSettings } from './limit-settings.ts';
import { limitTable } from './limits.ts';
import { readUsage } from './testing/read-usage.ts';

const launchPath = '/api/v2/devices/launchDirectAutomation';
const settings = {
  PHALANX_MAX_PROJECTS: '3',
  PHALANX_MAX_TOKENS: '4',
  PHALANX_MAX_DEVICES: '2',
  PHALANX_MAX_RUNS: '5',
  PHALANX_MAX_RUNS_PER_DEVICE: '2',
  PHALANX_BAD_TOKENS_PER_MINUTE: '5',
};

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ settings });
});
afterAll(() => server.dispose());

const createProject = (api: ApiCaller, name: string): Promise<ApiReply> =>
  api('POST', '/api/v2/automation-project', { body: { name } });

const usageRow = (token: string, limit: string, path?: string): Promise<UsageRow> =>
  readUsage({ server, token, limit, ...(path !== undefined && { path }) });

const statuses = (replies: readonly ApiReply[]): number[] =>
  replies.map(({ status }) => status).toSorted((a, b) => a - b);

describe('every limit that is refused', () => {
  it.each(Object.entries(limitTable).filter(([, { code }]) => code !== null))(
    'names its setting in the message: %s',
    (_limit, { code, key }) => {
      if (code === null || code === 'too_busy') return;
      expect(errorTable[code].message).toContain(limitSettings[key].name);
    },
  );
});

describe('what a user may have', () => {
  it('is held when it is asked for at once, also after a restart, and costs no other user', async () => {
    const [ada, bob] = [await server.createCaller('ada'), await server.createCaller('bob')];
    const names = Array.from({ length: 12 }, (_, number) => `project ${number}`);
    const replies = await Promise.all(names.map((name) => createProject(ada.api, name)));
    expect(statuses(replies)).toEqual([...Array(3).fill(201), ...Array(9).fill(409)]);
    expect(replies.find(({ status }) => status === 409)?.body).toMatchObject({ code: 'too_many_projects' });
    await server.restart();
    expect((await createProject(ada.api, 'one more')).status).toBe(409);
    expect((await createProject(bob.api, 'project 1')).status).toBe(201);
    expect(await usageRow(ada.token, 'projects')).toMatchObject({
      used: 3,
      most: 3,
      unit: 'count',
      setting: 'PHALANX_MAX_PROJECTS',
      code: 'too_many_projects',
      refused: 1,
    });
  });

  it('is shown to administrators of everybody, and of others to nobody else', async () => {
    const [carl, dora] = [await server.createCaller('carl'), await server.createCaller('dora')];
    await createProject(carl.api, 'a project');
    const path = `/api/v2/users/${carl.userId}/usage`;
    expect(await usageRow(adminToken, 'projects', path)).toMatchObject({ used: 1 });
    expect((await dora.api('GET', path)).status).toBe(403);
    expect((await dora.api('GET', '/api/v2/usage')).status).toBe(403);
    const { body } = await server.api('GET', '/api/v2/usage?limit=1');
    expect(body['usage']).toHaveLength(1);
    expect(body['next_cursor']).not.toBeNull();
    expect((await server.api('GET', '/api/v2/users/nobody/usage')).status).toBe(404);
  });

  it('counts the tokens of the user, also those that an administrator makes', async () => {
    const { api, userId, token } = await server.createCaller('emma');
    const make = (by: ApiCaller): Promise<ApiReply> =>
      by('POST', '/api/v2/tokens', { body: { name: 'more', user_id: userId } });
    const replies = await Promise.all([make(api), make(api), make(server.api), make(server.api), make(api)]);
    expect(statuses(replies)).toEqual([201, 201, 201, 409, 409]);
    expect(await usageRow(token, 'tokens')).toMatchObject({ used: 4, refused: 2 });
  });
});

describe('a host', () => {
  it('that reports more phones than its user may have keeps the first ones, and disturbs nobody', async () => {
    const [fred, gina] = [await server.createCaller('fred'), await server.createCaller('gina')];
    const serials = Array.from({ length: 1000 }, (_, number) => `flood-${number}`);
    const { host } = await server.connectHost({ token: fred.token, serials }, fred.api);
    const { body } = await fred.api('GET', '/api/v2/devices');
    expect(body['devices']).toHaveLength(2);
    expect(await usageRow(fred.token, 'devices')).toMatchObject({ used: 2, most: 2, refused: 998 });
    expect(host.isOpen).toBe(true);
    const other = await server.connectHost({ token: gina.token, serials: ['own'] }, gina.api);
    expect(other.deviceIds).toHaveLength(1);
    await Promise.all([host.cut(), other.host.cut()]);
  });
});

describe('runs at once', () => {
  it('are limited for each phone, whoever launches, and there is room again when one has ended', async () => {
    const { api, token } = await server.createCaller('hugo');
    const { host, deviceId } = await server.connectHost({ token, serials: ['phone'] }, api);
    const launch = (): Promise<ApiReply> => api('POST', launchPath, startBody(deviceId));
    const replies = await Promise.all(Array.from({ length: 6 }, launch));
    expect(statuses(replies)).toEqual([200, 200, 429, 429, 429, 429]);
    const refused = replies.find(({ status }) => status === 429);
    expect(refused?.body).toMatchObject({ code: 'too_many_device_runs' });
    expect(refused?.text).toContain(deviceId);
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await usageRow(token, 'runs')).toMatchObject({ used: 2, most: 5 });
    await host.end(host.messages('launch')[0]?.runs[0]?.run_id ?? '', 'completed');
    await expect.poll(async () => (await launch()).status).toBe(200);
    await host.cut();
  });
});

describe('requests without a valid token', () => {
  // All to one server: each counts its own.
  let url: string;
  beforeAll(() => {
    url = server.url;
  });
  const ask = (token: string, address: string): Promise<ApiReply> =>
    createApiCaller(url, token)('GET', '/api/v2/me', { headers: { 'x-forwarded-for': address } });

  it('are not looked at any more when too many come from one address; the known and the others go on', async () => {
    const ida = await server.createCaller('ida');
    const replies = await Promise.all(
      Array.from({ length: 9 }, (_, number) => ask(`phx_guess${number}`, '203.0.113.7')),
    );
    expect(statuses(replies)).toEqual([...Array(5).fill(401), ...Array(4).fill(429)]);
    const refused = replies.find(({ status }) => status === 429);
    expect(refused?.body).toMatchObject({ code: 'too_many_bad_tokens' });
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await ask('phx_guess', '203.0.113.8')).status).toBe(401);
    expect((await ask(ida.token, '203.0.113.7')).status).toBe(200);
  });

  it('come from one address when they come from one IPv6 network', async () => {
    const replies = await Promise.all(
      Array.from({ length: 9 }, (_, number) => ask('phx_guess', `2001:db8:1:2::${number}`)),
    );
    expect(statuses(replies)).toEqual([...Array(5).fill(401), ...Array(4).fill(429)]);
  });
});

describe('all requests of a user', () => {
  it('are limited, whatever token they come with, with a time to come again, and those of others are not', async () => {
    const perSecond = 5;
    const strict = await TestServer.start({ settings: { PHALANX_REQUESTS_PER_SECOND: String(perSecond) } });
    const [jan, kim] = [await strict.createCaller('jan'), await strict.createCaller('kim')];
    const made = await jan.api('POST', '/api/v2/tokens', { body: { name: 'another' } });
    const token = String(made.body['secret']);
    // All to one server: each counts its own.
    const { url } = strict;
    const ask = (by: string): Promise<ApiReply> => createApiCaller(url, by)('GET', '/api/v2/me');
    const askedAt = performance.now();
    const replies = await Promise.all(Array.from({ length: 55 }, () => [ask(jan.token), ask(token)]).flat());
    const elapsedS = (performance.now() - askedAt) / 1000;
    const refused = replies.filter(({ status }) => status === 429);
    // A burst and what comes back meanwhile. Each token with a limit of its own would have twice as much.
    expect(replies.length - refused.length).toBeLessThanOrEqual(perSecond * (1 + elapsedS) + 1);
    expect(refused[0]?.body).toMatchObject({ code: 'too_many_requests' });
    const seconds = Number(refused[0]?.headers.get('retry-after'));
    expect((await ask(kim.token)).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    expect((await ask(jan.token)).status).toBe(200);
    const metrics = await createApiCaller(url, adminToken)('GET', '/metrics');
    expect(metrics.text).toMatch(/phalanx_limit_refusals_total\{limit="requests"\} \d+/);
    await strict.dispose();
  });
});

describe('connections', () => {
  it('that say nothing are closed, before the first request and between two', async () => {
    const impatient = await TestServer.start({ settings: { PHALANX_IDLE_SECONDS: '1' } });
    const [silent, talked] = [1, 2].map(() =>
      connect({ port: Number(new URL(impatient.url).port), host: '127.0.0.1' }),
    );
    talked?.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    const closed = Promise.all(
      [silent, talked].map(async (socket) => {
        socket?.on('error', () => undefined).resume();
        if (socket !== undefined) await once(socket, 'close');
        return socket?.destroyed;
      }),
    );
    expect(await closed).toEqual([true, true]);
    await impatient.dispose();
  });

  it('whose request is worked on are not silent', async () => {
    const impatient = await TestServer.start({ settings: { PHALANX_IDLE_SECONDS: '1' } });
    const { api, token } = await impatient.createCaller('vera');
    const silent = { token, serials: ['phone'], launchHabit: 'silent' } as const;
    const { host, deviceId } = await impatient.connectHost(silent, api);
    const sent = host.waitFor('launch');
    const launched = api('POST', launchPath, startBody(deviceId));
    const [run] = (await sent).runs;
    await sleep(2500);
    host.report(run?.run_id ?? '', 'running');
    expect((await launched).status).toBe(200);
    await impatient.dispose();
  });

  it('of one address are limited, the one too many is told, and there is room again', async () => {
    const strict = await TestServer.start({
      settings: { PHALANX_MAX_CONNECTIONS_PER_ADDRESS: '3', PHALANX_TRUSTED_PROXIES: 'none' },
    });
    const { url } = strict;
    const api = createApiCaller(url, adminToken);
    const port = Number(new URL(url).port);
    const held = Array.from({ length: 3 }, () => connect({ port, host: '127.0.0.1' }));
    for (const socket of held) {
      socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
      await once(socket, 'data');
    }
    const reply = await api('GET', '/healthz');
    expect([reply.status, reply.body['code']]).toEqual([429, 'too_many_connections']);
    for (const socket of held) socket.destroy();
    await expect.poll(async () => (await api('GET', '/healthz')).status).toBe(200);
    await strict.dispose();
  });
});
