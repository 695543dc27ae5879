import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { adminToken, numberAt, stringAt, TestServer } from '../testing/test-server.ts';
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
    expect(lifetimeMs).toBe(365 * 24 * 60 * 60 * 1000);
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['a scope', { scopes: ['admin', 'read'] }, { scopes: ['admin', 'launch'] }],
    [
      'a project',
      { scopes: ['admin'], project_ids: ['p1'] },
      { scopes: ['admin'], project_ids: ['p1', 'p2'] },
    ],
  ])('never gives %s that the maker’s token does not have', async (_name, own, wanted) => {
    const { secret } = await server.createToken(own);
    const reply = await server.api('POST', '/api/v2/tokens', {
      token: secret,
      body: { name: 'n', ...wanted },
    });
    expect(reply.status).toBe(403);
  });

  it('inherits the projects of the maker’s token, and of its scopes those that are usual', async () => {
    const { secret } = await server.createToken({ scopes: ['admin', 'read'], project_ids: ['p1'] });
    const { body } = await server.api('POST', '/api/v2/tokens', { token: secret, body: { name: 'n' } });
    expect(body['token']).toMatchObject({ scopes: ['read'], project_ids: ['p1'] });
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
