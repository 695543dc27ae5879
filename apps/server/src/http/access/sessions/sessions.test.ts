import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { hourMs } from '@phalanx/timing/durations';
import { stringAt } from '../../../testing/string-at.ts';
import { adminToken, TestServer } from '../../../testing/test-server.ts';

let server: TestServer;
let origin: string;
const sessionPath = '/api/v2/session';

beforeAll(async () => {
  server = await TestServer.start({ settings: { PHALANX_PUBLIC_URL: 'https://phones.example.com' } });
});
afterAll(() => server.dispose());
beforeEach(() => {
  origin = server.url;
});

interface Answer {
  status: number;
  body: Record<string, unknown>;
  cookie: string;
}

/**
 * Sends a request as a browser does, to one address whichever server answers there, with headers that `fetch` here
 * would not let through.
 */
async function send(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: object,
): Promise<Answer> {
  const { request } = await import('node:http');
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const sent = request({
      hostname,
      port,
      method,
      path,
      headers: {
        host: new URL(origin).host,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          body: JSON.parse(text),
          cookie: (response.headers['set-cookie'] ?? []).join(),
        }),
      );
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const pairOf = (cookie: string): string => cookie.split(';')[0] ?? '';

async function signIn(token = adminToken): Promise<string> {
  const { status, cookie } = await send('POST', sessionPath, { origin }, { token });
  expect(status).toBe(201);
  return pairOf(cookie);
}

describe('a browser', () => {
  it('signs in with a token, and reads and writes with a cookie that scripts can not read', async () => {
    const { cookie } = await send('POST', sessionPath, { origin }, { token: adminToken });
    const { port } = new URL(origin);
    expect(cookie).toMatch(
      new RegExp(
        `^__Host-phalanx-${port}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict; Max-Age=604800; Secure$`,
      ),
    );
    const headers = { cookie: pairOf(cookie), origin, 'sec-fetch-site': 'same-origin' };
    expect(await send('GET', '/api/v2/me', headers)).toMatchObject({ status: 200 });
    const made = await send('POST', '/api/v2/automation-project', headers, { name: 'By cookie' });
    expect(made.status).toBe(201);
  });

  it('signs in with the link of the terminal, once, within the hour', async () => {
    const linkOf = async (): Promise<string> => (await server.createSignInLink()).split('#link=')[1] ?? '';
    const link = await linkOf();
    const { status, cookie } = await send('POST', sessionPath, { origin }, { link });
    expect(status).toBe(201);
    const me = await send('GET', '/api/v2/me', { cookie: pairOf(cookie) });
    expect(me.body).toMatchObject({ user: { role: 'admin' }, token: { name: 'sign-in link' } });
    expect((await send('POST', sessionPath, { origin }, { link })).status).toBe(401);
    const late = await linkOf();
    server.clock.advance(3_600_001);
    expect((await send('POST', sessionPath, { origin }, { link: late })).status).toBe(401);
  });

  it('is known by the protected cookie alone, where browsers take it', async () => {
    const cookie = await signIn();
    const plain = cookie.replace('__Host-', '');
    expect((await send('GET', '/api/v2/me', { cookie: plain })).status).toBe(401);
    expect((await send('GET', '/api/v2/me', { cookie: `${plain}; ${cookie}` })).status).toBe(200);
  });

  it('is told that a wrong token is wrong', async () => {
    const wrong = { token: 'phx_wrong' };
    expect(await send('POST', sessionPath, { origin }, wrong)).toMatchObject({
      status: 401,
      body: { code: 'unauthorized' },
    });
    expect(await send('POST', sessionPath, { origin }, {})).toMatchObject({ status: 401 });
  });

  it('is signed out by signing out, and the token stays', async () => {
    const cookie = await signIn();
    const out = await send('DELETE', sessionPath, { cookie, origin });
    expect(out.cookie).toContain('Max-Age=0');
    expect(await send('GET', '/api/v2/me', { cookie })).toMatchObject({ status: 401 });
    expect((await server.api('GET', '/api/v2/me')).status).toBe(200);
  });

  it('is signed out when its token is revoked, at once and after a restart', async () => {
    const { secret, id } = await server.createToken({});
    const cookie = await signIn(secret);
    const operators = await signIn(adminToken);
    expect((await send('GET', '/api/v2/me', { cookie })).status).toBe(200);
    await server.restart();
    origin = server.url;
    // The cookie's name has the port, which is another one now.
    const port = `phalanx-${new URL(origin).port}`;
    const moved = cookie.replace(/phalanx-\d+/, port);
    expect((await send('GET', '/api/v2/me', { cookie: moved })).status).toBe(200);
    const stillSignedIn = operators.replace(/phalanx-\d+/, port);
    expect((await send('GET', '/api/v2/me', { cookie: stillSignedIn })).status).toBe(200);
    await server.api('DELETE', `/api/v2/tokens/${id}`);
    expect((await send('GET', '/api/v2/me', { cookie: moved })).status).toBe(401);
  });

  it('is signed out after twelve hours without a use, and after a week', async () => {
    const idle = await signIn();
    const used = await signIn();
    for (let hours = 0; hours < 13; hours += 1) {
      server.clock.advance(hourMs);
      expect((await send('GET', '/api/v2/me', { cookie: used })).status).toBe(200);
    }
    expect((await send('GET', '/api/v2/me', { cookie: idle })).status).toBe(401);
    for (let hours = 13; hours < 168; hours += 8) {
      await send('GET', '/api/v2/me', { cookie: used });
      server.clock.advance(8 * hourMs);
    }
    expect((await send('GET', '/api/v2/me', { cookie: used })).status).toBe(401);
  });
});

describe('with the cookie, a page of another address', () => {
  it.each([
    ['of another site', { 'sec-fetch-site': 'cross-site' }],
    ['of another port', { 'sec-fetch-site': 'same-site' }],
  ])('%s reads nothing', async (_, headers) => {
    const cookie = await signIn();
    expect(await send('GET', '/api/v2/me', { cookie, ...headers })).toMatchObject({
      status: 403,
      body: { code: 'foreign_page' },
    });
  });

  it.each([[undefined], ['https://evil.example'], ['null'], ['http://127.0.0.1:1']])(
    'whose origin is %s writes nothing',
    async (foreign) => {
      const cookie = await signIn();
      const headers = { cookie, ...(foreign === undefined ? {} : { origin: foreign }) };
      const answer = await send('POST', '/api/v2/automation-project', headers, { name: 'Foreign' });
      expect(answer).toMatchObject({ status: 403, body: { code: 'foreign_page' } });
    },
  );

  it('signs nobody in', async () => {
    const answer = await send('POST', sessionPath, { origin: 'https://evil.example' }, { token: adminToken });
    expect(answer).toMatchObject({ status: 403, cookie: '' });
  });

  it('gains nothing by a name that points here', async () => {
    const host = `rebound.example:${new URL(server.url).port}`;
    const headers = { host, origin: `http://${host}` };
    expect(await send('POST', sessionPath, headers, { token: adminToken })).toMatchObject({
      status: 421,
      body: { code: 'misdirected_request' },
    });
  });

  it('is not meant by the public address, which came by TLS', async () => {
    const headers = { host: 'phones.example.com', origin: 'https://phones.example.com' };
    const { status, cookie } = await send('POST', sessionPath, headers, { token: adminToken });
    expect([status, cookie]).toEqual([201, expect.stringMatching(/^__Host-phalanx-0=.*; Secure$/)]);
    const plain = { ...headers, origin: 'http://phones.example.com' };
    expect((await send('POST', sessionPath, plain, { token: adminToken })).status).toBe(403);
  });
});

it('programs with a token are asked for none of this, and a token goes before a cookie', async () => {
  const host = 'any.example';
  const authorization = `Bearer ${adminToken}`;
  expect(
    (await send('GET', '/api/v2/me', { host, authorization, 'sec-fetch-site': 'cross-site' })).status,
  ).toBe(200);
  const { secret } = await server.createToken({ name: 'narrow', scopes: ['read'] });
  const cookie = await signIn();
  const answer = await send('GET', '/api/v2/me', { cookie, authorization: `Bearer ${secret}` });
  expect(stringAt(answer.body['token'], 'name')).toBe('narrow');
});
