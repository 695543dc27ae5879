import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { yearMs } from '@phalanx/timing/durations';
import { stringAt } from '../../testing/string-at.ts';
import { adminToken, numberAt, TestServer } from '../../testing/test-server.ts';
import { createTokenSecret, isDamagedSecret } from './token-secret.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.dispose());

describe('a token’s secret', () => {
  it('has a prefix and a checksum that notices any one changed character', () => {
    const secret = createTokenSecret();
    expect(secret).toMatch(/^phx_[0-9A-Za-z]{39}$/);
    expect(isDamagedSecret(secret)).toBe(false);
    for (let at = 4; at < secret.length; at += 1) {
      const changed = `${secret.slice(0, at)}${secret[at] === 'a' ? 'b' : 'a'}${secret.slice(at + 1)}`;
      expect(isDamagedSecret(changed)).toBe(true);
    }
  });

  it('is shown once and stands in no list and no file', async () => {
    const { secret } = await server.createToken({});
    expect((await server.api('GET', '/api/v2/tokens')).text).not.toContain(secret);
    const files = readdirSync(server.dataDir).filter((name) => name.startsWith('phalanx.db'));
    for (const name of files) {
      const text = readFileSync(path.join(server.dataDir, name), 'latin1');
      expect(text).not.toContain(secret);
      expect(text).not.toContain(adminToken);
    }
  });
});

describe('making a token', () => {
  it('gives it a name, the default scopes and a year', async () => {
    const { status, body } = await server.api('POST', '/api/v2/tokens', { body: { name: 'mine' } });
    expect(status).toBe(201);
    expect(body).toEqual({ success: true, token: expect.any(Object), secret: expect.any(String) });
    expect(body['token']).toMatchObject({
      name: 'mine',
      scopes: ['read', 'launch', 'edit', 'review'],
      project_ids: null,
      last_used_at: null,
    });
    const lifetimeMs = numberAt(body['token'], 'expires_at') - numberAt(body['token'], 'created_at');
    expect(lifetimeMs).toBe(yearMs);
  });

  it('never gives a scope or a project that the maker’s token does not have', async () => {
    const [own, other] = [await server.createProject(), await server.createProject()];
    const { secret } = await server.createToken({ scopes: ['admin', 'read'], project_ids: [own] });
    const make = (fields: object) =>
      server.api('POST', '/api/v2/tokens', { token: secret, body: { name: 'n', ...fields } });
    expect((await make({ scopes: ['admin', 'launch'] })).status).toBe(403);
    expect((await make({ project_ids: [other] })).status).toBe(403);
    expect((await make({})).body['token']).toMatchObject({ scopes: ['read'], project_ids: [own] });
  });

  it.each<[string, Record<string, unknown>]>([
    ['an end in the past', { expires_at: 1 }],
    ['an end on a day that does not exist', { expires_at: '2199-02-30' }],
    ['an end without a zone', { expires_at: '2199-02-20T10:00' }],
    ['a project that nobody has', { project_ids: [crypto.randomUUID()] }],
  ])('is refused for %s', async (_name, fields) => {
    const [field = ''] = Object.keys(fields);
    const { status, body } = await server.api('POST', '/api/v2/tokens', { body: { name: 'n', ...fields } });
    expect([status, body['message']]).toEqual([400, expect.stringContaining(field)]);
  });

  it('takes its end in both forms, and never outlives the maker’s token', async () => {
    const end = server.clock.now() + 60_000;
    const made = async (fields: object, token?: string) => {
      const request = { body: { name: 'n', ...fields }, ...(token === undefined ? {} : { token }) };
      return (await server.api('POST', '/api/v2/tokens', request)).body['token'];
    };
    expect(await made({ expires_at: new Date(end).toISOString() })).toMatchObject({ expires_at: end });
    const { secret } = await server.createToken({ scopes: ['admin', 'read'], expires_at: end });
    expect(await made({}, secret)).toMatchObject({ expires_at: end });
    expect(await made({ expires_at: '9999-01-01' }, secret)).toMatchObject({ expires_at: end });
  });

  it('for another user is for administrators, and for nobody it is 404', async () => {
    const caller = await server.createCaller('plain');
    const foreign = await server.createUser('target');
    const made = (api: TestServer['api'], userId: string) =>
      api('POST', '/api/v2/tokens', { body: { name: 'n', user_id: userId } });
    expect((await made(caller.api, foreign)).status).toBe(403);
    expect((await made(server.api, foreign)).status).toBe(201);
    expect((await made(server.api, crypto.randomUUID())).body).toMatchObject({ code: 'user_not_found' });
  });
});

describe('revoking a token', () => {
  it('revokes what was made with it, and nothing that the operator’s token made', async () => {
    const parent = await server.createToken({ scopes: ['admin', 'read'] });
    const make = async (token: string) => {
      const body = { name: 'n', scopes: ['admin', 'read'] };
      return stringAt((await server.api('POST', '/api/v2/tokens', { token, body })).body, 'secret');
    };
    const child = await make(parent.secret);
    const grandchild = await make(child);
    const status = async (token: string) => (await server.api('GET', '/api/v2/me', { token })).status;
    expect(await status(grandchild)).toBe(200);
    await server.api('DELETE', `/api/v2/tokens/${parent.id}`);
    expect([await status(child), await status(grandchild)]).toEqual([401, 401]);
    expect((await server.api('GET', '/api/v2/me')).status).toBe(200);
  });

  it('needs the scope admin, but not for the token of the request', async () => {
    const own = await server.createToken({ scopes: ['read'] });
    const other = await server.createToken({});
    const revoke = (id: string) => server.api('DELETE', `/api/v2/tokens/${id}`, { token: own.secret });
    expect((await revoke(other.id)).status).toBe(403);
    expect((await revoke(own.id)).status).toBe(200);
    expect((await revoke(own.id)).status).toBe(401);
  });

  it('is not for a token that is limited to projects, which sees itself and its own alone', async () => {
    const project_ids = [await server.createProject()];
    const limited = await server.createToken({ scopes: ['read', 'admin'], project_ids });
    const other = await server.createToken({});
    const { token } = { token: limited.secret };
    const { body } = await server.api('GET', '/api/v2/tokens', { token });
    expect(body['tokens']).toMatchObject([{ id: limited.id }]);
    const reply = await server.api('DELETE', `/api/v2/tokens/${other.id}`, { token });
    expect(reply.body).toMatchObject({ code: 'token_not_found' });
    expect((await server.api('GET', '/api/v2/users', { token })).status).toBe(403);
  });

  it('ends it for the very next request', async () => {
    const { secret, id } = await server.createToken({});
    expect((await server.api('GET', '/api/v2/me', { token: secret })).status).toBe(200);
    const reply = await server.api('DELETE', `/api/v2/tokens/${id}`);
    expect(reply.body).toEqual({ success: true, message: 'Token "test" was revoked.' });
    expect((await server.api('GET', '/api/v2/me', { token: secret })).status).toBe(401);
    await server.restart();
    expect((await server.api('GET', '/api/v2/me', { token: secret })).status).toBe(401);
  });

  it('of another user is 404 and changes nothing', async () => {
    const [one, two] = [await server.createCaller('one'), await server.createCaller('two')];
    const { body } = await two.api('GET', '/api/v2/me');
    const reply = await one.api('DELETE', `/api/v2/tokens/${stringAt(body['token'], 'id')}`);
    expect(reply.body).toMatchObject({ code: 'token_not_found' });
    expect((await two.api('GET', '/api/v2/me')).status).toBe(200);
  });
});

describe('the lists of an ordinary user', () => {
  it('hold their own tokens and no devices of others', async () => {
    const caller = await server.createCaller('lonely');
    const { host } = await server.connectHost();
    const { body } = await caller.api('GET', '/api/v2/tokens');
    expect(body['tokens']).toMatchObject([{ user_id: caller.userId }]);
    expect((await caller.api('GET', '/api/v2/devices')).body).toEqual({
      success: true,
      devices: [],
      next_cursor: null,
    });
    await host.cut();
  });
});
