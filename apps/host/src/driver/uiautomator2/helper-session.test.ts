import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { json } from 'node:stream/consumers';
import { defaultHelperSettings } from '@phalanx/simulated-phone';
import type { Adb } from '@yume-chan/adb';
import { afterEach, describe, expect, it } from 'vitest';
import type { AdbConnection } from '../../adb/link.ts';
import { openTcpSocket, toByteStreams } from '../../adb/tcp-socket.ts';
import { createPhoneShell } from '../shell/phone-shell.ts';
import type { SnapshotText } from '../tree/xml-screen.ts';
import { createHelperHttp, type HelperHttp } from './helper-http.ts';
import { createHelperSession, type HelperSession } from './helper-session.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server | undefined;
let http: HelperHttp | undefined;
afterEach(() => {
  http?.close();
  server?.closeAllConnections();
  server?.close();
});

const sockets = new Set<Socket>();
let sentSettings: string[] = [];

async function noteSettings(request: IncomingMessage): Promise<void> {
  const { settings } = (await json(request)) as { settings: object };
  sentSettings = Object.keys(settings);
}

const { signal } = new AbortController();

/**
 * Starts a session with a helper that gives this answer; its "ADB sockets" are TCP connections to a real HTTP server.
 */
async function startSession(answer: Answer): Promise<HelperSession> {
  sockets.clear();
  server = createServer((request, response) => {
    if (request.url?.endsWith('/appium/settings') === true) void noteSettings(request);
    request.resume();
    if (request.url === '/session') response.end(JSON.stringify({ sessionId: 'one', value: {} }));
    else if (request.url?.endsWith('/appium/settings') === true) response.end('{"value":null}');
    else answer(request, response);
  });
  server.on('connection', (socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const createSocket = async (service: string) => ({
    ...toByteStreams(await openTcpSocket({ host: '127.0.0.1', port }, 1000)),
    service,
  });
  const connection: AdbConnection = {
    reach: 'direct-tcp',
    adb: { createSocket } as unknown as Adb,
    gone: new AbortController().signal,
    close: () => {},
  };
  http = createHelperHttp(createPhoneShell(connection));
  const session = createHelperSession(http, new AbortController());
  await session.open(signal);
  return session;
}

describe('a session with the UI helper', () => {
  // The helper silently ignores settings that it does not know.
  it('sends only settings that the helper knows', async () => {
    await startSession((_, response) => response.end('{"value":null}'));
    expect(sentSettings).not.toEqual([]);
    expect(Object.keys(defaultHelperSettings)).toEqual(expect.arrayContaining(sentSettings));
  });

  it('keeps one socket open for many requests', async () => {
    const session = await startSession((_, response) => response.end('{"value":"<xml/>"}'));
    for (let request = 0; request < 5; request += 1) await session.getText('source', signal);
    expect(sockets.size).toBe(1);
  });

  it('asks at once on sockets of their own, which are used again, and on a new one when they have ended', async () => {
    const waiting: ServerResponse[] = [];
    const session = await startSession((_, response) => {
      waiting.push(response);
      if (waiting.length === 2) for (const one of waiting.splice(0)) one.end('{"value":"both"}');
    });
    const askTwice = (): Promise<SnapshotText[]> =>
      Promise.all([session.getText('a', signal), session.getText('b', signal)]);
    await expect(askTwice()).resolves.toMatchObject([{ text: 'both' }, { text: 'both' }]);
    await askTwice();
    expect(sockets.size).toBe(2);
    const ended = [...sockets].map((socket) => once(socket, 'close'));
    for (const socket of sockets) socket.end();
    await Promise.all(ended);
    await expect(askTwice()).resolves.toMatchObject([{ text: 'both' }, { text: 'both' }]);
    expect(sockets.size).toBe(4);
  });

  it('opens the session anew when the helper has lost it', async () => {
    let calls = 0;
    const session = await startSession((_, response) => {
      calls += 1;
      if (calls === 1) send(response, 404, '{"value":{"error":"invalid session id","message":"gone"}}');
      else response.end('{"value":"again"}');
    });
    await expect(session.getText('source', signal)).resolves.toMatchObject({ text: 'again' });
  });

  it.each<[string, string, Answer]>([
    ['no JSON', 'ui_helper_failed', (_, response) => response.end('<html>')],
    ['JSON of another form', 'ui_helper_failed', (_, response) => response.end('[1,2]')],
    [
      'no text where text is due',
      'phone_answer_unexpected',
      (_, response) => response.end('{"value":{"a":1}}'),
    ],
    ['an empty body', 'ui_helper_failed', (_, response) => response.end()],
    [
      'an error without a form',
      'phone_answer_unexpected',
      (_, response) => send(response, 500, '{"value":5}'),
    ],
    ['half an answer', 'ui_helper_failed', (_, response) => cutOff(response)],
    ['headers without end', 'ui_helper_failed', (request) => floodHeaders(request.socket)],
    ['a body without end', 'screen_not_readable', (_, response) => floodBody(response)],
    ['what is no HTTP', 'ui_helper_failed', (request) => void request.socket.end('hello\r\n\r\n')],
  ])('refuses %s', async (_, code, answer) => {
    const session = await startSession(answer);
    await expect(session.getText('source', signal)).rejects.toMatchObject({ name: 'DriverError', code });
  });

  it.each<[string, string, string, string?]>([
    [
      'a tree of more than 16 MB',
      'source',
      `{"value":"${'x'.repeat(17 * 1024 * 1024)}"}`,
      'screen_not_readable',
    ],
    ['an answer of more than 1 MB', 'x', `{"value":"${'x'.repeat(1024 * 1024)}"}`],
    ['a million values', 'screenshot', `{"value":"","a":[${'0,'.repeat(1_000_000)}0]}`],
    ['deep nesting behind an escaped quote', 'source', `{"value":"\\"","a":${'['.repeat(2_000_000)}`],
  ])('refuses %s before it parses it', async (_, path, body, code = 'ui_helper_failed') => {
    const session = await startSession((__, response) => send(response, 200, body));
    const parsed: number[] = [];
    const parse = JSON.parse;
    JSON.parse = (text: string, reviver) => {
      parsed.push(text.length);
      return parse(text, reviver);
    };
    try {
      await expect(session.getText(path, signal)).rejects.toMatchObject({ code });
    } finally {
      JSON.parse = parse;
    }
    expect(parsed).not.toContain(body.length);
  });

  it('gives the same text for the same bytes, and reads others', async () => {
    let tree = '<a/>';
    const session = await startSession((_, response) => send(response, 200, JSON.stringify({ value: tree })));
    const first = await session.getText('source', signal);
    expect(await session.getText('source', signal, first)).toBe(first);
    tree = '<b/>';
    expect(await session.getText('source', signal, first)).toMatchObject({ text: tree });
  });

  it('takes a tree of 4 million characters, each of them escaped', async () => {
    const tree = '"'.repeat(4 * 1024 * 1024);
    const session = await startSession((_, response) =>
      send(response, 200, JSON.stringify({ sessionId: 'one', value: tree })),
    );
    expect((await session.getText('source', signal)).text).toHaveLength(tree.length);
  });

  it.each([
    ['no such element', 'nothing has the focus', 'no_focused_field'],
    ['invalid element state', 'not editable', 'text_not_typable'],
    ['unknown error', 'Injecting to another application requires INJECT_EVENTS permission', 'input_refused'],
    ['unknown error', 'Cannot get the active window root', 'screen_not_readable'],
    ['unknown command', 'no such route', 'phone_answer_unexpected'],
  ])('tells "%s: %s" as %s', async (error, message, code) => {
    const session = await startSession((_, response) =>
      send(response, 500, JSON.stringify({ value: { error, message } })),
    );
    await expect(session.post('x', {}, signal)).rejects.toMatchObject({ code });
  });

  it('quotes a picture that the helper did not get, and claims no cause that it only asks for', async () => {
    const message = "Failed to capture a screenshot. Does the current view have 'secure' flag set?";
    const session = await startSession((_, response) =>
      send(response, 500, JSON.stringify({ value: { error: 'unable to capture screen', message } })),
    );
    await expect(session.getText('screenshot', signal)).rejects.toMatchObject({
      code: 'screen_not_readable',
      message: expect.stringContaining(`gave no picture of its screen (unable to capture screen: ${message}`),
    });
  });

  it('gives up at once when the caller does', async () => {
    const asked = Promise.withResolvers<void>();
    const session = await startSession(() => asked.resolve());
    const caller = new AbortController();
    const call = session.getText('source', caller.signal);
    await asked.promise;
    caller.abort(new Error('stopped'));
    await expect(call).rejects.toThrow('stopped');
  });
});

/** Sends an answer with its length, as the helper does. */
function send(response: ServerResponse, status: number, body: string): void {
  response.statusCode = status;
  response.end(body);
}

function cutOff(response: ServerResponse): void {
  response.writeHead(200, { 'content-length': '100' });
  response.write('{"value":');
  setImmediate(() => response.socket?.destroy());
}

function floodHeaders(socket: Socket): void {
  socket.write('HTTP/1.1 200 OK\r\n');
  pump(socket, Buffer.from(`x: ${'y'.repeat(1000)}\r\n`.repeat(50)));
}

function floodBody(response: ServerResponse): void {
  const { socket } = response;
  if (socket === null) return;
  socket.write('HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n');
  pump(socket, Buffer.alloc(1024 * 1024, 0x20));
}

function pump(socket: Socket, chunk: Buffer): void {
  const write = (): void => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('error', () => {});
  socket.on('drain', write);
  write();
}
