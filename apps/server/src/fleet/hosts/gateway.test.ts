import { connect } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  closeCodes,
  hostConnectPath,
  hostQuestions,
  maxFrameBytes,
  maxTextFrameBytes,
} from '@phalanx/protocol';

import { deviceReport } from '../../testing/host-wire.ts';
import { TestHost } from '../../testing/test-host.ts';
import { adminToken, TestServer } from '../../testing/test-server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ sweepMs: 20 });
});
afterAll(() => server.dispose());

const serials = (count: number): string[] => Array.from({ length: count }, (_, index) => `serial ${index}`);
const newHost = (token = adminToken): TestHost => new TestHost({ url: server.url, token });

/** Requests an upgrade on a plain socket. Returns the text received until the server closes the connection. */
async function upgrade(path: string, headers: string): Promise<string> {
  const socket = connect({ port: Number(new URL(server.url).port), host: '127.0.0.1', allowHalfOpen: true });
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${headers}\r\n`,
  );
  let text = '';
  socket.on('data', (data) => (text += data.toString()));
  await once(socket, 'end');
  socket.destroy();
  return text;
}

describe('the door of the gateway', () => {
  it.each<[string, () => Promise<string>, number]>([
    ['no token', async () => '', 401],
    ['an unknown token', async () => 'phx_unknown', 401],
    ['a token without the scope host', async () => (await server.createToken({})).secret, 403],
    ['an expired token', () => server.createExpiredToken({ scopes: ['host'] }), 401],
  ])('is closed to %s', async (_name, tokenOf, status) => {
    await expect(newHost(await tokenOf()).open()).rejects.toThrow(`${status}`);
  });

  it('answers a refusal like every endpoint, and ends a connection that its peer keeps open', async () => {
    const reply = await upgrade(hostConnectPath, '');
    expect(reply).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n/);
    expect(reply).toContain('WWW-Authenticate: Bearer');
    expect(reply).toMatch(/x-request-id: [0-9a-f-]{36}/);
    expect(JSON.parse(reply.slice(reply.indexOf('\r\n\r\n')))).toMatchObject({
      success: false,
      code: 'unauthorized',
    });
  });

  it('is not opened by another name, and what is no WebSocket is answered as if none had been asked for', async () => {
    const headers = `Authorization: Bearer ${adminToken}\r\n`;
    expect(await upgrade('/api/v2/nothing', headers)).toMatch(/^HTTP\/1\.1 404/);
    expect(await upgrade('/api/v2/me', headers)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(await upgrade('/api/v2/me', '')).toMatch(/^HTTP\/1\.1 401/);
  });

  it('refuses a handshake that is not one of WebSocket', async () => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.write(
      `GET ${hostConnectPath} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminToken}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    const [data] = (await once(socket, 'data')) as [Buffer];
    expect(data.toString()).toMatch(/^HTTP\/1\.1 400/);
    socket.destroy();
  });

  it('serves a client that offers HTTP/2 in passing', async () => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.write(
      'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n',
    );
    const [data] = (await once(socket, 'data')) as [Buffer];
    expect(data.toString()).toMatch(/^HTTP\/1\.1 200/);
    socket.destroy();
  });
});

describe('a host that breaks the protocol is cut off', () => {
  const frame = (header: unknown, payload: unknown): Buffer =>
    Buffer.from(`${JSON.stringify(header)}\n${JSON.stringify(payload)}`);
  const runId = crypto.randomUUID();
  const deepLogs = Buffer.from(
    `${JSON.stringify({ type: 'logs', run_id: runId, first_seq: 1 })}\n${'['.repeat(1_000_000)}`,
  );
  const hello = { sendHello: true };
  const cases: [string, { sendHello?: boolean }, (host: TestHost) => void][] = [
    ['a hello of another version', {}, (host) => host.sendHello({ protocol_version: 999 })],
    ['a hello without runs', {}, (host) => host.sendHello({ runs: undefined })],
    ['a hello with a host ID that is none', {}, (host) => host.sendHello({ host_id: '../x' })],
    ['a second hello', hello, (host) => host.sendHello()],
    ['a heartbeat before hello', {}, (host) => host.send({ type: 'heartbeat', sent_at: 1, ready: [] })],
    ['a binary frame before hello', {}, (host) => host.sendLogFrame(runId, 1, [[1, 0, 1, 'x']])],
    ['text that is not JSON', hello, (host) => host.sendRaw('garbage')],
    ['an unknown type', hello, (host) => host.send({ type: 'surprise' })],
    ['JSON null', hello, (host) => host.sendRaw('null')],
    ['an empty frame', hello, (host) => host.sendRaw('')],
    ['an empty binary frame', hello, (host) => host.sendRaw(Buffer.alloc(0))],
    ['a binary frame without a header', hello, (host) => host.sendRaw(Buffer.alloc(5000, 0x20))],
    ['a header of another type', hello, (host) => host.sendRaw(frame({ type: 'virus' }, []))],
    ['log entries that are not a list', hello, (host) => host.sendLogFrame(runId, 1, {})],
    ['an empty list of log entries', hello, (host) => host.sendLogFrame(runId, 1, [])],
    ['a log entry of an unknown level', hello, (host) => host.sendLogFrame(runId, 1, [[1, 4, 1, 'x']])],
    ['a log entry whose message is a number', hello, (host) => host.sendLogFrame(runId, 1, [[1, 0, 1, 2]])],
    ['a log number of 0', hello, (host) => host.sendLogFrame(runId, 0, [[1, 0, 1, 'x']])],
    ['a log number that is not exact', hello, (host) => host.sendLogFrame(runId, 1e300, [[1, 0, 1, 'x']])],
    ['a log entry of no time', hello, (host) => host.sendLogFrame(runId, 1, [[9e15, 0, 1, 'x']])],
    ['the end of a run at no time', hello, (host) => host.report(runId, 'completed', { ended_at: 1e300 })],
    [
      'a screen that no phone has',
      hello,
      (host) => host.send({ type: 'devices', devices: [deviceReport('s', { screen_width: 1e300 })] }),
    ],
    [
      'more entries than a frame holds',
      hello,
      (host) =>
        host.sendLogFrame(
          runId,
          1,
          Array.from({ length: 1001 }, () => [1, 0, 1, 'x']),
        ),
    ],
    [
      'a device state in capital letters',
      hello,
      (host) => host.send({ type: 'devices', devices: [deviceReport('s', { sdk_version: 1.5 })] }),
    ],
    ['a run without a status', hello, (host) => host.send({ type: 'runs', runs: [{ run_id: runId }] })],
    ['lists in one another', hello, (host) => host.sendRaw('['.repeat(1_000_000))],
    ['many names', hello, (host) => host.send(Object.fromEntries(serials(150_000).map((one) => [one, 0])))],
    ['a text frame that is too large', hello, (host) => host.sendRaw(' '.repeat(maxTextFrameBytes + 1))],
    ['lists in one another for log entries', hello, (host) => host.sendRaw(deepLogs)],
    [
      'a page that belongs to no hello',
      hello,
      (host) => host.send({ type: 'hello_more', devices: [], runs: [] }),
    ],
    [
      'a heartbeat between the pages of hello',
      {},
      (host) => {
        host.sendHello({ more: true });
        host.send({ type: 'heartbeat', sent_at: 1, ready: [] });
      },
    ],
    [
      'pages without end',
      {},
      (host) => {
        host.sendHello({ more: true });
        const devices = serials(2500).map((serial) => deviceReport(serial));
        for (let at = 0; at < 6; at += 1) host.send({ type: 'hello_more', devices, runs: [], more: true });
      },
    ],
    ['a serial that is empty', hello, (host) => host.send({ type: 'devices', devices: [deviceReport('')] })],
  ];

  it.each(cases)('for %s', async (_name, { sendHello }, misbehave) => {
    const host = newHost();
    await host.open();
    if (sendHello === true) {
      host.sendHello();
      await host.heartbeat();
    }
    misbehave(host);
    expect(await host.ended()).toBe(closeCodes.protocolError);
    expect((await server.api('GET', '/healthz')).status).toBe(200);
  });

  it('for a frame that is too large', async () => {
    const host = newHost();
    await host.connect();
    host.sendRaw(Buffer.alloc(maxFrameBytes + 1));
    expect(await host.ended()).toBe(1009);
  });

  it('for the length of a frame, before anything of it has come', async () => {
    const { hostname, port, host: authority } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    const handshake = [
      `GET ${hostConnectPath} HTTP/1.1`,
      `Host: ${authority}`,
      `Authorization: Bearer ${adminToken}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`,
    ];
    socket.write(`${handshake.join('\r\n')}\r\n\r\n`);
    await once(socket, 'data');
    // A text frame with a 64-bit length field; with the mask, this is its whole header.
    const head = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]);
    head.writeBigUInt64BE(BigInt(maxFrameBytes + 1), 2);
    socket.write(head);
    const [close] = (await once(socket, 'data')) as [Buffer];
    expect([close[0], close.readUInt16BE(2)]).toEqual([0x88, 1009]);
    socket.destroy();
  });

  it('and another host of the same user goes on', async () => {
    const good = newHost();
    await good.connect();
    const bad = newHost();
    await bad.open();
    bad.sendRaw('garbage');
    await bad.ended();
    await good.heartbeat();
    expect(good.closeCode).toBe(0);
    await good.cut();
  });
});

describe('a hello in pages', () => {
  it('is one: a host of thousands of phones is welcomed when all are known', async () => {
    const { token, api } = await server.createCaller('owner of many');
    const host = new TestHost({ url: server.url, token, serials: [] });
    await host.open();
    host.sendHello({ more: true });
    for (let page = 0; page < 3; page += 1) {
      const devices = serials(200).map((serial) => deviceReport(`${page} ${serial}`));
      host.send({ type: 'hello_more', devices, runs: [], ...(page < 2 ? { more: true } : {}) });
    }
    await host.heartbeat();
    const { body } = await api('GET', '/api/v2/devices?limit=1000');
    expect(body['devices']).toHaveLength(600);
    expect(host.messages('welcome')).toHaveLength(1);
    await host.cut();
  });
});

describe('a connection', () => {
  it('is replaced when the same host connects again, and its devices stay', async () => {
    const first = newHost();
    await first.connect();
    const second = new TestHost({ url: server.url, token: adminToken, hostId: first.hostId });
    await second.connect();
    expect(await first.ended()).toBe(closeCodes.replaced);
    const { body } = await server.api('GET', '/api/v2/devices');
    expect(body['devices']).toMatchObject([{ state: 'ready', host: { id: first.hostId, connected: true } }]);
    await second.cut();
  });

  it('is not replaced by a host of another user with the same ID', async () => {
    const mine = newHost();
    await mine.connect();
    const other = await server.createCaller('impostor');
    const theirs = new TestHost({ url: server.url, token: other.token, hostId: mine.hostId });
    await theirs.connect();
    await mine.heartbeat();
    expect(mine.closeCode).toBe(0);
    await Promise.all([mine.cut(), theirs.cut()]);
  });

  it('ends when its token is revoked', async () => {
    const { secret, id } = await server.createToken({ scopes: ['host'] });
    const host = newHost(secret);
    await host.connect();
    await server.api('DELETE', `/api/v2/tokens/${id}`);
    expect(await host.ended()).toBe(closeCodes.unauthorized);
    await expect(host.open()).rejects.toThrow('401');
  });

  it('ends when its token expires', async () => {
    const expiresAt = new Date(server.clock.now() + 60_000).toISOString();
    const { secret } = await server.createToken({ scopes: ['host'], expires_at: expiresAt });
    const host = newHost(secret);
    await host.connect();
    server.clock.advance(61_000);
    expect(await host.ended()).toBe(closeCodes.unauthorized);
  });

  it('takes in many thousand messages that are sent without waiting, in order', async () => {
    const host = newHost();
    await host.connect();
    const before = host.messages('heartbeat').length;
    for (let at = 0; at < 5000; at += 1) host.send({ type: 'heartbeat', sent_at: at, ready: [] });
    await host.heartbeat();
    const answers = host.messages('heartbeat').slice(before);
    expect(answers.slice(0, 5000).map((message) => message.sent_at)).toEqual(
      Array.from({ length: 5000 }, (_, at) => at),
    );
    await host.cut();
  });

  it('that says nothing after it was opened, or falls silent, is ended, and its devices are offline', async () => {
    const fast = await TestServer.start({ heartbeatMs: 100 });
    const { host, deviceId } = await fast.connectHost({ heartbeatHabit: 'silent' });
    expect(await host.ended()).toBe(1006);
    await expect
      .poll(() => fast.api('GET', `/api/v2/devices/${deviceId}`))
      .toMatchObject({ body: { device: { state: 'offline' } } });
    await fast.dispose();
  });
});

describe('a screenshot', () => {
  it('is what the host sends for it', async () => {
    const { host, deviceId } = await server.connectHost();
    const asked = host.waitFor('screenshot');
    const reply = server.api('GET', `/api/v2/devices/${deviceId}/screenshot`);
    const header = { type: 'screenshot', request_id: (await asked).request_id };
    host.sendRaw(Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), Buffer.from('JPEG-bytes')]));
    const { status, headers, text } = await reply;
    expect([status, headers.get('content-type'), text]).toEqual([200, 'image/jpeg', 'JPEG-bytes']);
    await host.cut();
  });

  it.each<[string, (host: TestHost, requestId: string) => unknown]>([
    [
      'refuses',
      (host, id) => host.send({ type: 'request_failed', request_id: id, message: 'the screen is off' }),
    ],
    ['is cut off', (host) => host.cut()],
  ])('is 502 with the reason when its host %s', async (_name, answer) => {
    const { host, deviceId } = await server.connectHost();
    const asked = host.waitFor('screenshot');
    const reply = server.api('GET', `/api/v2/devices/${deviceId}/screenshot`);
    await answer(host, (await asked).request_id);
    expect((await reply).status).toBe(502);
    expect((await reply).body).toMatchObject({ success: false, code: 'screenshot_failed' });
    await host.cut();
  });

  it('and a screen are 502 when there is too much of what its host answers', async () => {
    const { host, deviceId } = await server.connectHost();
    const answers = [
      ['screen', 'x'.repeat(hostQuestions.screen.maxAnswerBytes), 'more than 4194304 bytes'],
      ['screen', `{"tree":[${'{},'.repeat(50_000)}{}]}`, 'more than 40010 objects'],
      ['screen', '{"captured_at":1', 'unexpected answer'],
    ] as const;
    for (const [type, answer, reason] of answers) {
      const asked = host.waitFor(type);
      const reply = server.api('GET', `/api/v2/devices/${deviceId}/${type}`);
      const header = { type, request_id: (await asked).request_id };
      host.sendRaw(Buffer.from(`${JSON.stringify(header)}\n${answer}x`));
      expect(await reply).toMatchObject({ status: 502, body: { code: `${type}_failed` } });
      expect((await reply).text).toContain(reason);
    }
    await host.cut();
  });

  it('as a text of the clipboard, is none when it has too much beside', async () => {
    const { host, deviceId } = await server.connectHost();
    const asked = host.waitFor('clipboard');
    const reply = server.api('GET', `/api/v2/devices/${deviceId}/clipboard`);
    const header = { type: 'clipboard', request_id: (await asked).request_id };
    const answer = { text: 'x', more: Array.from({ length: 200_001 }, () => 0) };
    host.sendRaw(Buffer.from(`${JSON.stringify(header)}\n${JSON.stringify(answer)}`));
    expect(await reply).toMatchObject({ status: 502, body: { code: 'host_request_failed' } });
    expect((await reply).text).toContain('more than 200000 values');
    await host.cut();
  });

  it('is 409 for whatever is asked of a phone whose host is not connected', async () => {
    const { host, deviceId } = await server.connectHost();
    await host.cut();
    const tap = { body: { type: 'tap', x: 1, y: 1 } };
    const asked = [
      () => server.api('GET', `/api/v2/devices/${deviceId}/screen`),
      () => server.api('GET', `/api/v2/devices/${deviceId}/screenshot`),
      () => server.api('GET', `/api/v2/devices/${deviceId}/history`),
      () => server.api('POST', `/api/v2/devices/${deviceId}/input`, tap),
    ];
    for (const ask of asked) await expect.poll(async () => (await ask()).body['code']).toBe('device_offline');
    expect((await server.api('GET', `/api/v2/devices/${deviceId}/screen`)).status).toBe(409);
  });
});
