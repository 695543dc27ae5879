import { closeCodes } from '@phalanx/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { EventReader } from '../../testing/event-reader.ts';
import { TestHost } from '../../testing/test-host.ts';
import { stringAt } from '../../testing/string-at.ts';
import { TestServer } from '../../testing/test-server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.dispose());

const update = (userId: string, body: object) => server.api('PATCH', `/api/v2/users/${userId}`, { body });
const adminId = async () => stringAt((await server.api('GET', '/api/v2/me')).body['user'], 'id');

describe('a disabled user', () => {
  it('is refused at once, with streams and hosts, and comes back as before', async () => {
    const ada = await server.createCaller('ada');
    const host = await TestHost.connected({ url: server.url, token: ada.token });
    const reader = await EventReader.open(`${server.url}/api/v2/events`, ada.token);
    expect((await update(ada.userId, { disabled: true })).body['user']).toMatchObject({
      name: 'ada',
      disabled_at: expect.any(Number),
    });
    expect((await ada.api('GET', '/api/v2/me')).status).toBe(401);
    await reader.ended;
    expect(await host.ended()).toBe(closeCodes.unauthorized);
    await expect(host.open()).rejects.toThrow('401');
    expect((await update(ada.userId, { disabled: false })).body['user']).toMatchObject({ disabled_at: null });
    expect((await ada.api('GET', '/api/v2/me')).status).toBe(200);
    expect((await ada.api('GET', '/api/v2/devices')).body['devices']).toHaveLength(1);
  });
});

describe('changing a user', () => {
  it('renames, unless the name is taken or blank', async () => {
    const bob = await server.createCaller('bob');
    await server.createUser('eve');
    expect((await update(bob.userId, { name: ' Bobby ' })).body['user']).toMatchObject({ name: 'Bobby' });
    expect((await bob.api('GET', '/api/v2/me')).body['user']).toMatchObject({ name: 'Bobby' });
    expect((await update(bob.userId, { name: 'BOBBY' })).status).toBe(200);
    expect((await update(bob.userId, { name: 'EVE' })).body).toMatchObject({ code: 'user_name_taken' });
    expect((await update(bob.userId, { name: ' ' })).status).toBe(400);
    expect((await update(crypto.randomUUID(), { name: 'x' })).body).toMatchObject({ code: 'user_not_found' });
    expect((await bob.api('PATCH', `/api/v2/users/${bob.userId}`, { body: { role: 'admin' } })).status).toBe(
      403,
    );
  });

  it('never takes the last administrator away', async () => {
    const root = await adminId();
    for (const body of [{ disabled: true }, { role: 'user' }])
      expect((await update(root, body)).body).toMatchObject({ code: 'last_administrator' });
    const reply = await server.api('DELETE', `/api/v2/users/${root}`);
    expect(reply.body).toMatchObject({ code: 'last_administrator' });
    const second = await server.createCaller('second');
    await update(second.userId, { role: 'admin' });
    expect((await second.api('GET', '/api/v2/users')).status).toBe(200);
    expect((await second.api('PATCH', `/api/v2/users/${root}`, { body: { role: 'user' } })).status).toBe(200);
    expect((await server.api('GET', '/api/v2/users')).status).toBe(403);
    await second.api('PATCH', `/api/v2/users/${root}`, { body: { role: 'admin' } });
    await update(second.userId, { role: 'user' });
  });
});

describe('deleting a user', () => {
  it('takes tokens, devices and memberships along, and projects only when asked to', async () => {
    const carl = await server.createCaller('carl');
    const host = await TestHost.connected({ url: server.url, token: carl.token });
    const made = await carl.api('POST', '/api/v2/automation-project', { body: { name: 'Shop' } });
    const projectId = stringAt(made.body['project'], 'id');
    const refused = await server.api('DELETE', `/api/v2/users/${carl.userId}`);
    expect([refused.status, refused.body['code']]).toEqual([409, 'user_owns_projects']);
    expect((await carl.api('GET', `/api/v2/automation-project/${projectId}`)).status).toBe(200);
    const done = await server.api('DELETE', `/api/v2/users/${carl.userId}?projects=delete`);
    expect(done.status, done.text).toBe(200);
    expect(await host.ended()).toBe(closeCodes.unauthorized);
    expect((await carl.api('GET', '/api/v2/me')).status).toBe(401);
    expect((await server.api('DELETE', `/api/v2/users/${carl.userId}`)).status).toBe(404);
    const again = await server.createCaller('carl');
    expect((await again.api('GET', '/api/v2/devices')).body['devices']).toEqual([]);
  });
});
