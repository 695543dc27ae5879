import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { accessRoutes } from '@phalanx/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestLog } from '../../testing/test-log.ts';
import { adminToken, TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let log: TestLog;

beforeAll(async () => {
  log = new TestLog();
  server = await TestServer.start({ log: log.logger });
});
afterAll(() => server.dispose());

const path = accessRoutes.createUser.path;
const withToken = `Authorization: Bearer ${adminToken}\r\nContent-Type: application/json\r\n`;

function open(): Socket {
  const socket = connect({ port: Number(new URL(server.url).port), host: '127.0.0.1' });
  socket.on('error', () => undefined);
  return socket;
}

/** Everything that the server says until it hangs up or has answered with a JSON body. */
async function read(socket: Socket): Promise<string> {
  let text = '';
  for await (const data of socket) {
    text += String(data);
    if (/\r\n\r\n\{.*\}$/s.test(text)) break;
  }
  return text;
}

function expectAnswer(text: string, status: number, code: string): void {
  expect(text.slice(0, 200)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(text).toMatch(/\r\nx-request-id: [0-9a-f-]{36}\r\n/);
  expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n')))).toMatchObject({ success: false, code });
}

describe('a body that is too large', () => {
  it.each([2, 40])('of %i MB reaches a client that sends it whole before it reads', async (sizeMb) => {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const socket = open();
      const sizeBytes = sizeMb * 1024 * 1024;
      socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\n${withToken}Content-Length: ${sizeBytes}\r\n\r\n`);
      for (let sent = 0; sent < sizeBytes; sent += 65_536) {
        if (!socket.write(Buffer.alloc(65_536, 0x20))) await once(socket, 'drain');
      }
      expectAnswer(await read(socket), 413, 'body_too_large');
    }
  });

  it('is refused in the middle when its length was not told', async () => {
    const socket = open();
    socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\n${withToken}Transfer-Encoding: chunked\r\n\r\n`);
    for (let sent = 0; sent < 64; sent += 1) {
      if (!socket.write(`10000\r\n${' '.repeat(65_536)}\r\n`)) await once(socket, 'drain');
    }
    socket.write('0\r\n\r\n');
    expectAnswer(await read(socket), 413, 'body_too_large');
  });

  it('reaches fetch', async () => {
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const reply = await server.api('POST', path, { raw: ' '.repeat(8 * 1024 * 1024) });
      expect(reply).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
    }
  });
});

describe('Expect: 100-continue', () => {
  const ask = (headers: string): Socket => {
    const socket = open();
    socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n${headers}\r\n`);
    return socket;
  };

  it('is not told to go on without a token', async () => {
    expectAnswer(await read(ask('Content-Length: 10\r\n')), 401, 'unauthorized');
  });

  it('is not told to go on with a body that is too large', async () => {
    expectAnswer(await read(ask(`${withToken}Content-Length: 99999999\r\n`)), 413, 'body_too_large');
  });

  it('is told to go on when the body will be read', async () => {
    const socket = ask(`${withToken}Content-Length: 2\r\n`);
    const [told]: unknown[] = await once(socket, 'data');
    expect(String(told)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write('{}');
    expectAnswer(await read(socket), 400, 'invalid_request');
  });
});

it.each([
  ['an expectation that nobody knows', 'Expect: the-unexpected\r\n', 417, 'expectation_failed'],
  ['headers of 100 kB', `X: ${'x'.repeat(100_000)}\r\n`, 431, 'headers_too_large'],
])('%s is told as that', async (_what, headers, status, code) => {
  const socket = open();
  socket.write(`GET /api/v2/me HTTP/1.1\r\nHost: x\r\n${headers}\r\n`);
  expectAnswer(await read(socket), status, code);
});

it('the answer to a HEAD with an expectation that nobody knows has no body', async () => {
  const socket = open();
  socket.write('HEAD /api/v2/me HTTP/1.1\r\nHost: x\r\nExpect: the-unexpected\r\n\r\n');
  expect(await read(socket)).toMatch(/^HTTP\/1\.1 417 [^]*\r\n\r\n$/);
});

it.each(['TRACE', 'PROPFIND', 'OPTIONS', 'PURGE'])('%s of a path that exists is 405', async (method) => {
  const socket = open();
  socket.write(`${method} /api/v2/runs/some-id HTTP/1.1\r\nHost: x\r\n\r\n`);
  const text = await read(socket);
  expectAnswer(text, 405, 'method_not_allowed');
  expect(text).toMatch(/\r\nallow: GET, HEAD\r\n/);
});

it('a body that is compressed is 415, with what to do', async () => {
  const socket = open();
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\n${withToken}Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}`,
  );
  const text = await read(socket);
  expectAnswer(text, 415, 'unsupported_encoding');
  expect(text).toContain('gzip');
});

it('an upload that is cut off is no failure of the service', async () => {
  const before = log.errors.length;
  for (const kind of ['Content-Length: 100000', 'Transfer-Encoding: chunked']) {
    const socket = open();
    socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\n${withToken}${kind}\r\n\r\n{"device`);
    await server.api('GET', '/healthz');
    socket.resetAndDestroy();
    await once(socket, 'close');
  }
  await server.api('GET', '/healthz');
  expect(log.errors.slice(before)).toEqual([]);
});
