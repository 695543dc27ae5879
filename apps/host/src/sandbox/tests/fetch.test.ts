import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';

import { openConfinement, type Start } from '@phalanx/confinement';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createSandboxPool, type SandboxPool } from '../pool/sandbox-pool.ts';
import { runCode, startCode, testMemoryMb } from '../testing/code-runs.ts';

let pool: SandboxPool;
let server: Server;
let other: Server;
let here = '';
let there = '';
/** Number of requests that wait for their answer. */
let silent = 0;

/** Answers with the received request, or as the path requests. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://x');
  const [, kind = '', value = ''] = url.pathname.split('/');
  if (kind === 'redirect')
    return void response
      .writeHead(Number(value), { location: url.searchParams.get('to') ?? '' })
      .end('moved');
  if (kind === 'loop') return void response.writeHead(302, { location: '/loop' }).end();
  if (kind === 'silent') return void (silent += 1);
  if (kind === 'gzip')
    return void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('packed'));
  if (kind === 'deflate')
    return void response.writeHead(200, { 'content-encoding': 'deflate' }).end(deflateSync('packed'));
  if (kind === 'br')
    return void response.writeHead(200, { 'content-encoding': 'br' }).end(brotliCompressSync('packed'));
  if (kind === 'bomb')
    return void response
      .writeHead(200, { 'content-encoding': 'gzip' })
      .end(gzipSync(Buffer.alloc(60 * 1024 * 1024)));
  if (kind === 'bytes')
    return void response.end(Buffer.from(Array.from({ length: 256 }, (_, index) => index)));
  if (kind === 'status')
    return void response.writeHead(Number(value), { 'x-a': '1', 'set-cookie': ['a=1', 'b=2'] }).end();
  if (kind === 'broken')
    return void response.writeHead(200, { 'content-length': '100' }).write('half', () => response.destroy());
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { method, headers } = request;
  response.end(JSON.stringify({ method, headers, body: Buffer.concat(chunks).toString('latin1') }));
}

async function listen(): Promise<[Server, string]> {
  const made = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
  return [made, `http://127.0.0.1:${(made.address() as AddressInfo).port}`];
}

beforeAll(async () => {
  [server, here] = await listen();
  [other, there] = await listen();
  pool = await createSandboxPool({
    size: 2,
    memoryMb: testMemoryMb,
    fetchPolicy: { allowPrivateAddresses: true },
  });
});
afterAll(async () => {
  await pool.close();
  for (const one of [server, other]) {
    one.closeAllConnections();
    await new Promise((resolve) => one.close(resolve));
  }
});

/** Returns the JSON value of an expression, evaluated in the sandbox. `here` and `there` are the two servers. */
async function evaluate(expression: string): Promise<unknown> {
  const code = `const here = '${here}', there = '${there}'; console.log(JSON.stringify(await (async () => { ${expression} })()));`;
  const { end, messages } = await runCode(pool, code);
  expect(end).toEqual({ outcome: 'completed', error: null });
  return JSON.parse(messages[0] ?? '');
}

describe('fetch', () => {
  it('gives status, headers, URL and the body in every form', async () => {
    expect(
      await evaluate(
        `const r = await fetch(here + '/status/418'); return [r.status, r.ok, r.statusText, r.headers.get('x-a'), r.headers.getSetCookie(), r.url === here + '/status/418', r.redirected, await r.text()]`,
      ),
    ).toEqual([418, false, "I'm a Teapot", '1', ['a=1', 'b=2'], true, false, '']);
    expect(await evaluate(`return [...await (await fetch(here + '/bytes')).bytes()]`)).toEqual(
      Array.from({ length: 256 }, (_, index) => index),
    );
  });

  it.each([
    [`'text ü'`, 'text/plain;charset=UTF-8', Buffer.from('text ü').toString('latin1')],
    [`new Uint8Array([0, 255])`, undefined, '\0\xff'],
    [`new Uint8Array([1, 2, 3]).subarray(1).buffer`, undefined, '\x01\x02\x03'],
    [`new URLSearchParams({ a: 'ü' })`, 'application/x-www-form-urlencoded;charset=UTF-8', 'a=%C3%BC'],
  ])('sends the body %s', async (body, contentType, sent) => {
    expect(
      await evaluate(`return (await fetch(here, { method: 'POST', body: ${body} })).json()`),
    ).toMatchObject({
      method: 'POST',
      headers: { ...(contentType && { 'content-type': contentType }), 'content-length': String(sent.length) },
      body: sent,
    });
  });

  it('sends headers of the user, but not those of the connection', async () => {
    const seen = await evaluate(
      `return (await fetch(here, { headers: { Host: 'evil', Connection: 'upgrade', 'Transfer-Encoding': 'chunked', 'Content-Length': '5', 'X-Own': 'yes', 'User-Agent': 'mine', 'Proxy-Authorization': 'x' } })).json()`,
    );
    expect(seen).toMatchObject({
      headers: { host: new URL(here).host, 'x-own': 'yes', 'user-agent': 'mine' },
    });
    expect(seen).not.toHaveProperty(['headers', 'transfer-encoding']);
    expect(seen).not.toHaveProperty(['headers', 'proxy-authorization']);
  });

  it.each(['gzip', 'deflate', 'br'])('unpacks %s', async (kind) => {
    expect(await evaluate(`return (await fetch(here + '/${kind}')).text()`)).toBe('packed');
    expect(await evaluate(`return (await fetch(here + '/${kind}', { method: 'HEAD' })).text()`)).toBe('');
  });

  it.each([
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'PUT', 'GET', ''],
    [307, 'POST', 'POST', 'b'],
    [308, 'PUT', 'PUT', 'b'],
    [302, 'PUT', 'PUT', 'b'],
  ])('follows %d of a %s as %s', async (status, method, then, body) => {
    const seen = await evaluate(
      `const r = await fetch(here + '/redirect/${status}?to=/end', { method: '${method}', body: 'b' }); return [r.redirected, r.url === here + '/end', await r.json()]`,
    );
    expect(seen).toMatchObject([true, true, { method: then, body }]);
  });

  it('keeps credentials to the first origin', async () => {
    const headers = `{ Authorization: 'secret', Cookie: 'c=1', 'X-Own': 'yes' }`;
    const away = await evaluate(
      `return (await fetch(here + '/redirect/307?to=' + there, { headers: ${headers} })).json()`,
    );
    expect(away).toMatchObject({ headers: { 'x-own': 'yes' } });
    expect(away).not.toHaveProperty('headers.authorization');
    expect(away).not.toHaveProperty('headers.cookie');
    const stays = await evaluate(
      `return (await fetch(here + '/redirect/307?to=/x', { headers: ${headers} })).json()`,
    );
    expect(stays).toMatchObject({ headers: { authorization: 'secret', cookie: 'c=1' } });
  });

  it('leaves redirects alone, or fails at them, when told to', async () => {
    expect(
      await evaluate(
        `const r = await fetch(here + '/redirect/302?to=/x', { redirect: 'manual' }); return [r.status, r.headers.get('location')]`,
      ),
    ).toEqual([302, '/x']);
    expect(
      await evaluate(
        `return fetch(here + '/redirect/302?to=/x', { redirect: 'error' }).catch((e) => e.message)`,
      ),
    ).toContain('unexpected redirect');
  });

  it.each([
    ['too many redirects', `fetch(here + '/loop')`, /more than 20 redirects/],
    [
      'a redirect to another protocol',
      `fetch(here + '/redirect/302?to=file:///etc/passwd')`,
      /http and https, not file/,
    ],
    ['a response that is too large', `fetch(here + '/bomb')`, /larger than 50 MB/],
    ['a connection that breaks', `fetch(here + '/broken')`, /fetch failed: /],
    ['a closed port', `fetch('http://127.0.0.1:1/')`, /fetch failed: .*ECONNREFUSED/],
    [
      'a name that does not exist',
      `fetch('http://nothing.invalid/')`,
      /fetch failed: .*(ENOTFOUND|EAI_AGAIN)/,
    ],
    [
      'a signal that was aborted before',
      `fetch(here, { signal: AbortSignal.abort(new Error('before')) })`,
      /^Error: before$/,
    ],
    [
      'a signal that is aborted later',
      `fetch(here + '/silent', { signal: AbortSignal.timeout(20) })`,
      /^TimeoutError: /,
    ],
  ])('rejects for %s', async (_, call, message) => {
    expect(
      await evaluate(`return ${call}.then(() => 'no error', (e) => String(e).replace(/^TypeError: /, ''))`),
    ).toMatch(message);
  });

  it('names the user’s line in its errors', async () => {
    const { messages } = await runCode(
      pool,
      `\nawait fetch('http://127.0.0.1:1/').catch((e) => console.log(e.stack));`,
    );
    expect(messages[0]).toMatch(/^TypeError: fetch failed: .*\n {4}at main\.js:2:7$/);
  });

  it('keeps the run alive until it is answered', async () => {
    const { end, messages } = await runCode(pool, `void fetch('${here}').then((r) => console.log(r.status))`);
    expect([end.outcome, messages]).toEqual(['completed', ['200']]);
  });

  it('is not lost while the process that makes requests is still starting', async () => {
    const confinement = await openConfinement();
    const late = await createSandboxPool({
      size: 1,
      memoryMb: testMemoryMb,
      fetchPolicy: { allowPrivateAddresses: true },
      confinement: {
        ...confinement,
        wrap: (start, policy) =>
          policy.sockets === true
            ? startedLate(confinement.wrap(start, policy))
            : confinement.wrap(start, policy),
      },
    });
    const { end, messages } = await runCode(late, `console.log((await fetch('${here}')).status)`);
    await late.close();
    expect([end, messages]).toEqual([{ outcome: 'completed', error: null }, ['200']]);
  });

  it('fails with its reason when the process that makes requests is killed, and works in the next run', async () => {
    const told: { msg: string; pid?: number }[] = [];
    const brokers = () => told.filter(({ msg }) => msg === 'the process that makes requests has started');
    const shaken = await createSandboxPool({
      size: 2,
      memoryMb: testMemoryMb,
      fetchPolicy: { allowPrivateAddresses: true },
      log: pino({ level: 'debug', base: null }, { write: (line) => void told.push(JSON.parse(line)) }),
    });
    const before = silent;
    const cut = startCode(
      shaken,
      `console.log('begun'); console.log(await fetch('${here}/silent').catch((e) => e.message))`,
    );
    await cut.logged('begun');
    await expect.poll(() => silent).toBeGreaterThan(before);
    process.kill(Number(brokers()[0]?.pid), 'SIGKILL');
    expect((await cut.ended).outcome).toBe('completed');
    expect(cut.logs.at(-1)?.message).toMatch(/process that makes requests has ended/);
    await expect.poll(() => told.some(({ msg }) => msg.endsWith('of user code has ended'))).toBe(true);
    for (let run = 0; run < 3; run += 1) {
      const { messages } = await runCode(shaken, `console.log((await fetch('${here}')).status)`);
      expect(messages).toEqual(['200']);
    }
    expect(brokers()).toHaveLength(2);
    await shaken.close();
  });
});

/** Delays the start, as on a busy machine. */
const startedLate = ({ program, args }: Start): Start => ({
  program: '/bin/sh',
  args: ['-c', 'sleep 3; exec "$@"', 'sh', program, ...args],
});
