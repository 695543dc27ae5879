import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as protocol from '@phalanx/protocol';
import { accessRoutes, errorTable, launchRoutes, logRoutes, type RouteContract } from '@phalanx/protocol';

import type { ApiReply, ApiRequest } from '../../../testing/api-caller.ts';
import { TestHost } from '../../../testing/test-host.ts';
import { startBody, TestServer } from '../../../testing/test-server.ts';

const contracts = Object.entries(protocol)
  .filter(([name]) => name.endsWith('Routes'))
  .flatMap(([, routes]) => Object.values(routes as Record<string, RouteContract>));
const closedRoutes = contracts.filter((contract) => contract.scope !== null);
const bodyRoutes = closedRoutes.filter((contract) => contract.body !== undefined);

const codes = new Set<string>(Object.keys(errorTable));

const nameOf = ({ method, path }: RouteContract): string => `${method} ${path}`;
const pathOf = ({ path }: RouteContract): string => path.replaceAll(/:\w+/g, 'some-id');
const [launchPath, stopAllPath, logsPath] = [
  launchRoutes.launchDirect.path,
  launchRoutes.stopAll.path,
  logRoutes.read.path,
];

/** The shape of every refusal, and nothing of the service's inside in it. `asked` tells which one it is. */
function expectRefusal(reply: ApiReply, status: number, code?: string, asked = ''): void {
  const told = `${asked}: ${reply.text}`;
  expect(reply.status, told).toBe(status);
  const { errors, devices, ...body } = reply.body;
  expect(Object.keys(body).toSorted(), told).toEqual(['code', 'message', 'success']);
  expect(body['success'], told).toBe(false);
  expect(codes.has(String(body['code'])), told).toBe(true);
  if (code !== undefined) expect(body['code'], told).toBe(code);
  if (errors !== undefined) expect(code, told).toBe('compile_failed');
  for (const row of Array.isArray(devices) ? devices : [])
    expect(row, told).toMatchObject({ outcome: 'refused' });
  expect(body['message'], told).toMatch(/^\S.{8,}\.$/s);
  expect(body['message'], told).not.toMatch(
    /\{\w+\}|undefined|\[object|sqlite|FST_|node_modules|\.ts:\d|TypeError|\s at /i,
  );
  expect(reply.headers.get('content-type'), told).toBe('application/json; charset=utf-8');
  expect(reply.headers.get('x-request-id'), told).toMatch(/^[0-9a-f-]{36}$/);
  expect(reply.headers.get('www-authenticate'), told).toBe(status === 401 ? 'Bearer' : null);
}

let server: TestServer;
let host: TestHost;
let deviceId: string;
let foreignDeviceId: string;
/** The only project of the limited token. */
let projectId: string;
let tokens: Record<'read' | 'launch' | 'limited' | 'host' | 'expired' | 'revoked', string>;

const ownDeviceId = async (caller: { api: TestServer['api'] }): Promise<string> => {
  const { body } = await caller.api('GET', '/api/v2/devices');
  return (body['devices'] as { device_id: string }[])[0]?.device_id ?? '';
};

async function createTokens(): Promise<typeof tokens> {
  projectId = await server.createProject();
  const secretOf = async (fields: Record<string, unknown>) => (await server.createToken(fields)).secret;
  const revoked = await server.createToken({});
  await server.api('DELETE', `/api/v2/tokens/${revoked.id}`);
  return {
    read: await secretOf({ scopes: ['read'] }),
    launch: await secretOf({ scopes: ['launch'] }),
    limited: await secretOf({ project_ids: [projectId] }),
    host: await secretOf({ scopes: ['host'] }),
    expired: await server.createExpiredToken(),
    revoked: revoked.secret,
  };
}

beforeAll(async () => {
  // Nobody beats for the hosts while the machine is busy.
  const settings = { PHALANX_BAD_TOKENS_PER_MINUTE: '100000' };
  server = await TestServer.start({ settings });
  const other = await server.createCaller('other');
  const foreignHost = await TestHost.connected({ url: server.url, token: other.token });
  foreignDeviceId = await ownDeviceId(other);
  await foreignHost.heartbeat();
  tokens = await createTokens();
  host = await TestHost.connected({ url: server.url, token: tokens.host });
  deviceId = await ownDeviceId(server);
});
afterAll(() => server.dispose());

describe('a caller whose token is not valid', () => {
  const damaged = () => `${tokens.read.slice(0, -1)}${tokens.read.endsWith('0') ? '1' : '0'}`;
  const callers: Record<string, () => ApiRequest> = {
    'no token': () => ({ token: null }),
    'an empty header': () => ({ authorization: '' }),
    'another scheme': () => ({ authorization: `Basic ${tokens.read}` }),
    'a scheme without a token': () => ({ authorization: 'Bearer' }),
    'two words after the scheme': () => ({ authorization: `Bearer ${tokens.read} x` }),
    'an unknown token': () => ({ token: 'no-such-token-of-anybody-0123456789' }),
    'a damaged token': () => ({ token: damaged() }),
    'a revoked token': () => ({ token: tokens.revoked }),
    'an expired token': () => ({ token: tokens.expired }),
    'a token with the secret of an SQL injection': () => ({ token: "'OR'1'='1" }),
  };
  it.each(Object.keys(callers))('is refused with 401 by every route: %s', async (who) => {
    for (const route of closedRoutes) {
      const reply = await server.api(route.method, pathOf(route), callers[who]?.());
      expectRefusal(reply, 401, 'unauthorized', nameOf(route));
    }
  });

  it('is refused with 401 by every route before it looks at a body that is broken in any way', async () => {
    const broken: ApiRequest[] = [{ raw: '{"broken' }, { raw: 'x', contentType: 'text/plain' }, { body: {} }];
    const tooLarge = { raw: `"${'x'.repeat(2 * 1024 * 1024)}"` };
    for (const [at, route] of bodyRoutes.entries())
      for (const body of at === 0 ? [tooLarge, ...broken] : broken) {
        const reply = await server.api(route.method, pathOf(route), { token: null, ...body });
        expectRefusal(reply, 401, 'unauthorized', nameOf(route));
      }
  });
});

describe('a token that does not allow it', () => {
  it.each(['read', 'launch', 'host'] as const)(
    'is refused by every route of another scope when it has only the scope %s',
    async (scope) => {
      for (const route of closedRoutes.filter((one) => one.scope !== scope)) {
        const reply = await server.api(route.method, pathOf(route), { token: tokens[scope] });
        expectRefusal(reply, 403, 'forbidden', nameOf(route));
        expect(reply.body['message'], nameOf(route)).toContain(`"${route.scope}"`);
      }
    },
  );

  it.each([launchPath, stopAllPath])('%s refuses a token that is limited to projects', async (path) => {
    expectRefusal(
      await server.api('POST', path, { ...startBody(deviceId), token: tokens.limited }),
      403,
      'forbidden',
    );
  });

  it('reads the logs of its own projects only when it is limited to projects', async () => {
    const read = (automationId: string) =>
      server.api('POST', logsPath, {
        token: tokens.limited,
        body: { device_id: deviceId, automation_ids: [automationId] },
      });
    expect((await read(projectId)).status).toBe(200);
    expectRefusal(await read('project-2'), 403, 'forbidden');
  });

  it.each(['/api/v2/users', '/metrics'])('%s is for administrators alone', async (path) => {
    const caller = await server.createCaller(`nobody who reads ${path}`);
    expectRefusal(await caller.api('GET', path), 403, 'forbidden');
  });
});

describe('a body that does not fit', () => {
  const uuid = '0197f1c8-0000-7000-8000-000000000001';
  const good: Record<string, Record<string, unknown>> = {
    [launchPath]: { device_id: 'd', launch_id: uuid, command: 'start', code: '' },
    [stopAllPath]: { device_id: 'd' },
    [logsPath]: { device_id: 'd', automation_ids: ['a'] },
    [accessRoutes.createUser.path]: { name: 'n' },
    [accessRoutes.createToken.path]: { name: 'n' },
  };
  const notStrings = [1, true, null, [], {}, ['d']];
  const wrong: [path: string, field: string, values: unknown[]][] = [
    [launchPath, 'device_id', [...notStrings, '', 'x'.repeat(201)]],
    [launchPath, 'launch_id', [...notStrings, '', 'x', `${uuid}0`, ` ${uuid}`, `{${uuid}}`]],
    [launchPath, 'command', [...notStrings, '', 'START', 'restart', 'start ']],
    [launchPath, 'code', notStrings],
    [launchPath, 'automationParameters', [1, '', '{}', true, null, [], [{}]]],
    [launchPath, 'jobVariables', [1, '', '{}', true, null, [], [{}]]],
    [stopAllPath, 'device_id', [...notStrings, '']],
    [logsPath, 'device_id', [...notStrings, '']],
    [
      logsPath,
      'automation_ids',
      [1, 'a', null, {}, [], [1], [''], [null], Array.from({ length: 1001 }, () => 'a')],
    ],
    [logsPath, 'from', [1, null, [], {}, '', 'x', '0197f1c8-0000-4000-8000-000000000001', `${uuid}\n`]],
    [accessRoutes.createUser.path, 'name', [...notStrings, '', 'x'.repeat(201)]],
    [accessRoutes.createToken.path, 'name', [...notStrings, '']],
    [accessRoutes.createToken.path, 'user_id', [...notStrings, 'me']],
    [accessRoutes.createToken.path, 'scopes', [1, 'read', [], ['all'], [1], null, {}]],
    [accessRoutes.createToken.path, 'project_ids', [1, 'p', [], [1], null, {}]],
    [
      accessRoutes.createToken.path,
      'expires_at',
      [1, null, '', 'tomorrow', '2030-13-01', '1e9', '2030-01-01T00:00'],
    ],
  ];

  it.each(wrong)('%s names %s whatever is wrong with it', async (path, field, values) => {
    for (const value of values) {
      const reply = await server.api('POST', path, { body: { ...good[path], [field]: value } });
      const shown = JSON.stringify(value).slice(0, 40);
      expectRefusal(reply, 400, 'invalid_request', shown);
      expect(reply.body['message'], shown).toContain(field);
    }
  });

  const optional = new Set([
    'automationParameters',
    'jobVariables',
    'from',
    'user_id',
    'scopes',
    'project_ids',
    'expires_at',
  ]);
  const missingCases = wrong
    .filter(([, field]) => !optional.has(field))
    .map(([path, field]) => ({ path, field }));

  it.each(missingCases)('$path names $field when it is missing', async ({ path, field }) => {
    const { [field]: _, ...rest } = good[path] ?? {};
    const reply = await server.api('POST', path, { body: rest });
    expectRefusal(reply, 400, 'invalid_request');
    expect(reply.body['message']).toBe(`Field ${field} is required.`);
  });

  it.each(Object.keys(good))('%s refuses whatever is not an object', async (path) => {
    for (const body of [[], [good[path]], null, 'text', 1, true]) {
      expectRefusal(await server.api('POST', path, { body }), 400, 'invalid_request');
    }
  });

  const unreadable: [name: string, request: ApiRequest, status: number, code: string][] = [
    ['malformed JSON', { raw: '{"device_id": nope}' }, 400, 'malformed_json'],
    ['JSON that is cut short', { raw: '{"device_id": "d"' }, 400, 'malformed_json'],
    ['JSON with a comment', { raw: '{} // x' }, 400, 'malformed_json'],
    ['a body that is not UTF-8', { raw: new Uint8Array([0x22, 0xff, 0xfe, 0x22]) }, 400, 'malformed_json'],
    ['an empty body', { raw: '' }, 400, 'malformed_json'],
    ['text', { raw: '{}', contentType: 'text/plain' }, 415, 'unsupported_media_type'],
    [
      'a form',
      { raw: 'a=1', contentType: 'application/x-www-form-urlencoded' },
      415,
      'unsupported_media_type',
    ],
    [
      'a type that only begins like JSON',
      { raw: '{}', contentType: 'application/jsonx' },
      415,
      'unsupported_media_type',
    ],
  ];
  it.each(Object.keys(good))('%s refuses what can not be read', async (path) => {
    for (const [name, request, status, code] of unreadable)
      expectRefusal(await server.api('POST', path, request), status, code, name);
  });

  it('takes no bytes of JSON for no body, where an endpoint has none', async () => {
    const withoutBody = closedRoutes.filter(({ method, body }) => method !== 'GET' && body === undefined);
    expect(withoutBody.length).toBeGreaterThan(20);
    for (const route of withoutBody) {
      const { body } = await server.api(route.method, pathOf(route), { raw: '' });
      expect(body['code'], nameOf(route)).not.toBe('malformed_json');
    }
  });

  it('tells where malformed JSON is broken without quoting it', async () => {
    const { body } = await server.api('POST', stopAllPath, { raw: '{"secret-word": x' });
    expect(body['message']).not.toContain('secret');
  });

  it.each(Object.keys(good))('%s refuses no body at all', async (path) => {
    expectRefusal(await server.api('POST', path), 400);
  });

  it('accepts JSON under its other media types and with a charset', async () => {
    for (const contentType of [
      'application/json; charset=utf-8',
      'Application/JSON',
      'application/merge-patch+json',
    ]) {
      const reply = await server.api('POST', stopAllPath, { body: { device_id: deviceId }, contentType });
      expect(reply.status, reply.text).toBe(200);
    }
  });

  it.each([
    [stopAllPath, 1024 * 1024],
    [logsPath, 1024 * 1024],
    [accessRoutes.createUser.path, 1024 * 1024],
    [launchPath, 5 * 1024 * 1024],
  ])('%s refuses a body of more than %d bytes and names the limit', async (path, limit) => {
    const reply = await server.api('POST', path, { raw: `"${'x'.repeat(limit)}"` });
    expectRefusal(reply, 413, 'body_too_large');
    expect(reply.body['message']).toContain(String(limit));
  });

  it('ignores fields that it does not know', async () => {
    await host.heartbeat();
    const more = { surprise: 1, __proto__: { device_id: 'x' }, constructor: 'c', toString: 'x' };
    const reply = await server.api('POST', launchPath, startBody(deviceId, undefined, more));
    expect(reply.status, reply.text).toBe(200);
  });
});

describe('a query that does not fit', () => {
  it.each([
    ['/api/v2/runs?status=done', 'status'],
    ['/api/v2/runs?cursor=1', 'cursor'],
    ['/api/v2/runs?cursor=', 'cursor'],
    ['/api/v2/runs?device_id=', 'device_id'],
    ['/api/v2/runs?device_id=a&device_id=b', 'device_id'],
    ['/api/v2/events?device_id=', 'device_id'],
    [`/api/v2/events?automation_id=${'x'.repeat(201)}`, 'automation_id'],
  ])('%s names the parameter', async (path, parameter) => {
    const reply = await server.api('GET', path);
    expectRefusal(reply, 400, 'invalid_request');
    expect(reply.body['message']).toContain(`Query parameter ${parameter}`);
  });

  it('ignores parameters that it does not know', async () => {
    expect((await server.api('GET', '/api/v2/runs?limit=5&__proto__=x')).status).toBe(200);
  });
});

describe('what does not exist', () => {
  const unknown = '0197f1c8-0000-7000-8000-000000000001';

  it.each([
    ['GET', '/api/v2/devices/nope', 'device_not_found'],
    ['DELETE', '/api/v2/devices/nope', 'device_not_found'],
    ['GET', '/api/v2/devices/nope/screenshot', 'device_not_found'],
    ['GET', `/api/v2/runs/${unknown}`, 'run_not_found'],
    ['GET', '/api/v2/runs/nope', 'run_not_found'],
    ['DELETE', `/api/v2/tokens/${unknown}`, 'token_not_found'],
    ['GET', '/api/v2/nothing', 'route_not_found'],
    ['GET', '/', 'route_not_found'],
    ['POST', '/api/v1/devices/stopAllAutomations', 'route_not_found'],
  ])('%s %s is 404', async (method, path, code) => {
    expectRefusal(await server.api(method, path), 404, code);
  });

  it('answers for an unknown route before it asks for a token', async () => {
    expectRefusal(await server.api('GET', '/api/v2/nothing', { token: null }), 404, 'route_not_found');
  });

  it.each([launchPath, stopAllPath])('%s calls an unknown and a foreign device alike', async (path) => {
    const replies: ApiReply[] = [];
    for (const id of ['no-such-device', foreignDeviceId]) {
      const reply = await server.api('POST', path, startBody(id));
      expectRefusal(reply, 400, 'devices_unavailable');
      replies.push({ ...reply, text: reply.text.replaceAll(id, 'ID') });
    }
    expect(replies[0]?.text).toBe(replies[1]?.text);
    expect(replies[0]?.body['message']).toBe(
      'Some devices offline or not found: no-such-device (not found).',
    );
  });

  it.each([
    ['GET', (id: string) => `/api/v2/devices/${id}`],
    ['DELETE', (id: string) => `/api/v2/devices/${id}`],
    ['GET', (id: string) => `/api/v2/devices/${id}/screenshot`],
  ])('%s of a foreign device gives no hint that it exists', async (method, path) => {
    expectRefusal(await server.api(method, path(foreignDeviceId)), 404, 'device_not_found');
  });

  it('the logs of a foreign device are not found', async () => {
    const reply = await server.api('POST', logsPath, {
      body: { device_id: foreignDeviceId, automation_ids: ['a'] },
    });
    expectRefusal(reply, 404, 'device_not_found');
  });

  it('looks at the shape of a body before it looks for the device', async () => {
    const reply = await server.api('POST', logsPath, {
      body: { device_id: foreignDeviceId, automation_ids: 'a' },
    });
    expectRefusal(reply, 400, 'invalid_request');
  });
});

describe('a method that a path does not take', () => {
  const paths = Map.groupBy(contracts, (contract) => contract.path);

  it('is 405, and the others stand in Allow', async () => {
    for (const [path, taken] of paths) {
      const methods = new Set<string>(taken.map((contract) => contract.method));
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((one) => !methods.has(one))) {
        const reply = await server.api(method, path.replaceAll(/:\w+/g, 'x'), { token: null });
        expectRefusal(reply, 405, 'method_not_allowed', `${method} ${path}`);
        const allow = reply.headers.get('allow')?.split(', ') ?? [];
        const others = allow.filter((name) => name !== 'HEAD').toSorted();
        expect(others, `${method} ${path}`).toEqual([...methods].toSorted());
      }
    }
  });
});

describe('a peer that does not keep to the rules', () => {
  const open = () =>
    connect({ port: Number(new URL(server.url).port), host: '127.0.0.1', allowHalfOpen: true });

  it('and sends a body without an end and without a token gets 401 and is cut off', async () => {
    const socket = open();
    let text = '';
    // A write into a connection that was cut off fails; the close is what is awaited.
    socket.on('error', () => undefined);
    socket.on('data', (data) => (text += data.toString()));
    socket.write(
      `POST ${launchPath} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n`,
    );
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const chunk = Buffer.alloc(16 * 1024 * 1024, 0x20);
    while (!socket.closed) {
      // Writes at the pace of the reader: the kernel holds for both what is written more than the reader takes.
      const drained = new Promise((resolve) => socket.once('drain', resolve));
      if (!socket.write(chunk)) await Promise.race([drained, closed]);
    }
    expect(text).toMatch(/^HTTP\/1\.1 401/);
    expect(socket.bytesWritten).toBeLessThan(128 * 1024 * 1024);
  });

  it('and speaks no HTTP gets 400 in the usual shape, and the connection ends', async () => {
    const socket = open();
    let text = '';
    socket.on('data', (data) => (text += data.toString()));
    socket.write('garbage\r\n\r\n');
    await once(socket, 'end');
    socket.destroy();
    expect(text).toMatch(/^HTTP\/1\.1 400 .*x-request-id: /s);
    expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n')))).toMatchObject({
      success: false,
      code: 'invalid_request',
    });
  });
});

describe('an address that is not well-formed', () => {
  it.each(['/api/v2/devices/%zz', '/api/v2/devices/%ff', '/%'])('%s is 400', async (path) => {
    expectRefusal(await server.api('GET', path), 400, 'invalid_request');
  });

  it('a very long device ID is 404 or 400, never an accident', async () => {
    for (const length of [300, 600, 8000]) {
      const { status } = await server.api('GET', `/api/v2/devices/${'x'.repeat(length)}`);
      expect([400, 404]).toContain(status);
    }
  });
});
