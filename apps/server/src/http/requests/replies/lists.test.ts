import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ApiCaller } from '../../../testing/api-caller.ts';
import { stringAt } from '../../../testing/string-at.ts';
import { TestServer } from '../../../testing/test-server.ts';

let server: TestServer;
let api: ApiCaller;
let projectId: string;

/** Lists with exactly five rows. */
const lists: { path: string; field: string; key: string }[] = [
  { path: '/api/v2/devices', field: 'devices', key: 'device_id' },
  { path: '/api/v2/runs', field: 'runs', key: 'run_id' },
  { path: '/api/v2/automation-project', field: 'projects', key: 'id' },
  { path: '/api/v2/automation-project/:id/members', field: 'members', key: 'user_id' },
  { path: '/api/v2/automation/commits/:id', field: 'commits', key: 'hash' },
  { path: '/api/v2/automation/files/:id', field: 'files', key: 'path' },
  { path: '/api/v2/users?search=page', field: 'users', key: 'id' },
  { path: '/api/v2/tokens?user_id=:user', field: 'tokens', key: 'id' },
];

let userId: string;

const filled = (path: string): string => path.replace(':id', projectId).replace(':user', userId);

const keysOf = (rows: unknown, key: string): string[] =>
  Array.isArray(rows) ? rows.map((row) => stringAt(row, key)) : [];

beforeAll(async () => {
  server = await TestServer.start();
  ({ api } = server);
  userId = await server.createUser('page 1');
  const users = [userId];
  for (const number of [2, 3, 4, 5]) users.push(await server.createUser(`Page ${number}`));
  for (let count = 0; count < 5; count += 1) await server.createToken({ user_id: userId });
  for (const name of ['Shop', 'Chess', 'Ähre', '100%', 'shopping']) {
    const { body } = await api('POST', '/api/v2/automation-project', { body: { name } });
    projectId = stringAt(body['project'], 'id');
  }
  for (const member of users.slice(1)) {
    const path = `/api/v2/automation-project/${projectId}/members/${member}`;
    await api('PUT', path, { body: { role: 'shared_viewer' } });
  }
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    const body = { path: `${name}.txt`, content: name };
    await api('PUT', `/api/v2/automation/file/${projectId}`, { body });
    await api('POST', `/api/v2/automation/commit/${projectId}`, { body: { message: name } });
  }
  const { host, deviceIds } = await server.connectHost({
    serials: ['shelf-A1', 'shelf-A2', 'shelf-B1', 'shelf-B2', 'shelf-B3'],
  });
  for (const deviceId of deviceIds) await server.startRun(host, deviceId);
});
afterAll(() => server.dispose());

describe.each(lists)('GET $path', ({ path, field, key }) => {
  const page = async (query: string) => {
    const address = filled(path);
    const { body, text } = await api('GET', `${address}${address.includes('?') ? '&' : '?'}${query}`);
    return { keys: keysOf(body[field], key), next: body['next_cursor'], text };
  };

  it('gives every row once, whatever the size of the pages', async () => {
    const whole = await page('limit=1000');
    expect(whole.keys).toHaveLength(5);
    expect(whole.next).toBeNull();
    for (const limit of [1, 2, 4, 5]) {
      const seen: string[] = [];
      let cursor = '';
      for (;;) {
        const { keys, next } = await page(`limit=${limit}${cursor}`);
        expect(keys.length).toBeLessThanOrEqual(limit);
        seen.push(...keys);
        if (typeof next !== 'string') break;
        cursor = `&cursor=${encodeURIComponent(next)}`;
      }
      expect(seen).toEqual(whole.keys);
    }
  });

  it.runIf(key.endsWith('id'))('takes the ID of its cursor in any letter case', async () => {
    const whole = await page('limit=1000');
    for (const [index, id] of whole.keys.entries()) {
      const { keys } = await page(`limit=1000&cursor=${id.toUpperCase()}`);
      expect(keys).toEqual(whole.keys.slice(index + 1));
    }
  });

  it.each(['0', '1001', '-1', '1.5', 'all', '', '1&limit=2'])('refuses limit=%s', async (limit) => {
    const { text } = await page(`limit=${limit}`);
    expect(JSON.parse(text)).toMatchObject({
      success: false,
      code: 'invalid_request',
      message: expect.stringContaining('Query parameter limit'),
    });
  });
});

const deviceSerials = async (query: string) =>
  keysOf((await api('GET', `/api/v2/devices?${query}`)).body['devices'], 'serial');
const projectNames = async (query: string) =>
  keysOf((await api('GET', `/api/v2/automation-project?${query}`)).body['projects'], 'name');

describe('the filters', () => {
  it('find devices by state, host and a part of what names them', async () => {
    expect(await deviceSerials('state=busy&search=SHELF-b')).toEqual(['shelf-B1', 'shelf-B2', 'shelf-B3']);
    expect(await deviceSerials('state=offline')).toEqual([]);
    expect(await deviceSerials(`host_id=${crypto.randomUUID()}`)).toEqual([]);
    expect((await api('GET', '/api/v2/devices?state=dead')).status).toBe(400);
  });

  it('find projects by name and by a part of it, in any letter case, with nothing taken for a pattern', async () => {
    expect(await projectNames('name=sHOP')).toEqual(['Shop']);
    expect(await projectNames('search=SHOP')).toEqual(['shopping', 'Shop']);
    expect(await projectNames('search=%C3%A4HRE')).toEqual(['Ähre']);
    expect(await projectNames('search=%25')).toEqual(['100%']);
    expect(await projectNames('search=_')).toEqual([]);
  });

  it('find runs by the time of their making, in either form', async () => {
    const count = async (query: string) =>
      keysOf((await api('GET', `/api/v2/runs?${query}`)).body['runs'], 'run_id').length;
    const later = Date.now() + 60_000;
    expect(await count(`created_before=${later}`)).toBe(5);
    expect(await count(`created_after=${new Date(later).toISOString()}`)).toBe(0);
    expect(await count('created_after=2020-01-01')).toBe(5);
  });

  it.each(['2026-02-30', 'yesterday', '2026-02-01T10:00', '-5', '1.5'])(
    'refuse the time %s',
    async (time) => {
      const { body } = await api('GET', `/api/v2/runs?created_after=${time}`);
      expect(body).toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('created_after must be'),
      });
    },
  );
});

describe('names', () => {
  it.each([
    ['user', '/api/v2/users', 'PAGE 1', 'user_name_taken'],
    ['project', '/api/v2/automation-project', 'sHoP', 'project_name_taken'],
  ])('of a %s are not given twice, in no letter case', async (_what, path, name, code) => {
    const { status, body } = await api('POST', path, { body: { name } });
    expect([status, body['code']]).toEqual([409, code]);
  });

  it.each(['/api/v2/users', '/api/v2/automation-project', '/api/v2/tokens'])(
    'are not blank (%s)',
    async (path) => {
      expect((await api('POST', path, { body: { name: ' \t' } })).status).toBe(400);
    },
  );

  it('keep a project as it is when the new name is taken', async () => {
    const { status } = await api('PATCH', `/api/v2/automation-project/${projectId}`, {
      body: { name: 'CHESS' },
    });
    expect(status).toBe(409);
    expect(await projectNames('name=shopping')).toEqual(['shopping']);
  });
});
