import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';

import type { PhoneShell } from '../shell/phone-shell.ts';
import { HelperSocket } from './helper-socket.ts';

const megabyte = 1024 * 1024;
const usualBytes = megabyte;

/** Texts: the tree of a screen, which has 4 million characters at most, and its picture in base64. */
const textBytes: ReadonlyMap<string, number> = new Map([
  ['source', 16 * megabyte],
  ['screenshot', 32 * megabyte],
]);

/** Around a long text stand few other values. */
const maxParts = 10_000;

const [quote, backslash] = ['"', '\\'].map((character) => character.charCodeAt(0));
const separators = new Set(['[', '{', ','].map((character) => character.charCodeAt(0)));

/** The UiAutomator2 server listens here, on the phone itself. */
const helperPort = 6790;

const Reply = Type.Object({
  sessionId: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  value: Type.Optional(Type.Unknown()),
});
const replyCheck = Compile(Reply);
const failureCheck = Compile(
  Type.Object({
    error: Type.String(),
    message: Type.Optional(Type.String()),
    stacktrace: Type.Optional(Type.String()),
  }),
);

export interface HelperReply extends Static<typeof Reply> {
  readonly bytes: Buffer;
}

/** The helper answered with an error; `kind` is a word of the W3C WebDriver table, such as `no such element`. */
export class HelperError extends Error {
  override readonly name = 'HelperError';
  readonly kind: string;
  /** Java's; the cause often stands here alone. */
  readonly trace: string;

  constructor(kind: string, message: string, trace = '') {
    super(message);
    this.kind = kind;
    this.trace = trace;
  }
}

export interface HelperRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** An answer that is not parsed again when it comes again: the reply has these bytes, and no value. */
  readonly known?: Buffer | undefined;
  readonly signal: AbortSignal;
}

export interface HelperHttp {
  request(request: HelperRequest): Promise<HelperReply>;
  close(): void;
}

/**
 * HTTP over ADB sockets: no forwarded port on the host that another program could use. Sockets are kept open, but
 * not through an adb server: it leaves Nagle's algorithm on, which with TCP's delayed acknowledgement costs 40 ms an
 * answer on an old socket and nothing on a new one (measured: 48 ms against 5 ms for a tree).
 */
export function createHelperHttp(shell: PhoneShell): HelperHttp {
  const keepsOpen = shell.connection.reach === 'direct-tcp';
  const closing = new AbortController();
  const open = new Set<HelperSocket>();
  const resting: HelperSocket[] = [];
  const connect = async (signal: AbortSignal): Promise<HelperSocket> => {
    const either = AbortSignal.any([signal, closing.signal]);
    const socket = new HelperSocket(await shell.open(`tcp:${helperPort}`, either), () => open.delete(socket));
    open.add(socket);
    return socket;
  };
  /** Nobody else has it until it is put back. */
  const take = (): HelperSocket | undefined => {
    for (let socket = resting.pop(); socket !== undefined; socket = resting.pop())
      if (open.has(socket)) return socket;
    return undefined;
  };
  return {
    async request(request) {
      const { signal } = request;
      const socket = take() ?? (await connect(signal));
      // Its end ends the exchange.
      const close = (): void => socket.close();
      signal.addEventListener('abort', close);
      try {
        signal.throwIfAborted();
        const maxBytes = maxAnswerBytes(request.path);
        const { status, body } = await socket.exchange(bytesOf(request, keepsOpen), maxBytes);
        if (keepsOpen) resting.push(socket);
        else socket.close();
        return request.known?.equals(body) === true ? { bytes: request.known } : parseReply(body, status);
      } catch (error) {
        if (!(error instanceof HelperError)) socket.close();
        throw signal.aborted ? signal.reason : error;
      } finally {
        signal.removeEventListener('abort', close);
      }
    },
    close() {
      closing.abort(new Error('The UI helper was stopped'));
      for (const socket of [...open]) socket.close();
    },
  };
}

function bytesOf({ method, path, body }: HelperRequest, keepsOpen: boolean): Buffer {
  const text = body === undefined ? '' : JSON.stringify(body);
  const head =
    `${method} ${path} HTTP/1.1\r\n` +
    `Host: 127.0.0.1:${helperPort}\r\n` +
    `Connection: ${keepsOpen ? 'keep-alive' : 'close'}\r\n` +
    'Content-Type: application/json; charset=utf-8\r\n' +
    `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n`;
  return Buffer.from(head + text);
}

function parseReply(bytes: Buffer, status: number): HelperReply {
  checkAnswerShape(bytes);
  const reply: unknown = JSON.parse(bytes.toString());
  if (!replyCheck.Check(reply))
    throw new Error(`The UI helper answered with an unknown form (HTTP ${status})`);
  if (status < 400) return { ...reply, bytes };
  const { value } = reply;
  if (failureCheck.Check(value))
    throw new HelperError(value.error, value.message ?? value.error, value.stacktrace);
  throw new HelperError('unknown error', `HTTP ${status}`);
}

/** How long the helper's answer to a path may be. */
function maxAnswerBytes(path: string): number {
  return textBytes.get(path.slice(path.lastIndexOf('/') + 1)) ?? usualBytes;
}

/** Throws when a long answer is more than long texts: parsed, it would take many times its length. */
function checkAnswerShape(body: Uint8Array): void {
  if (body.length <= usualBytes) return;
  let parts = 0;
  let isText = false;
  for (let at = 0; at < body.length; at += 1) {
    const code = body[at];
    if (code === quote) isText = !isText;
    else if (isText) at += code === backslash ? 1 : 0;
    else if (code !== undefined && separators.has(code)) parts += 1;
    if (parts > maxParts) throw new Error('The UI helper answered with more values than any answer has');
  }
}
