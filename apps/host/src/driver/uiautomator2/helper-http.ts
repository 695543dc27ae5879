import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { AdbSocket } from '@yume-chan/adb';

import { type PhoneShell, closeQuietly } from '../shell/phone-shell.ts';
import { maxTreeBytes, tooManyBytes } from '../tree/tree-size.ts';

const megabyte = 1024 * 1024;
const defaultMaxBytes = megabyte;

/** Limits in bytes of long texts: the tree of a screen, and its picture in base64. */
const textBytes: ReadonlyMap<string, number> = new Map([
  ['source', maxTreeBytes],
  ['screenshot', 32 * megabyte],
]);

/** Maximum number of values in a long answer, which has few other values around its text. */
const maxParts = 10_000;

const [quote, backslash] = ['"', '\\'].map((character) => character.charCodeAt(0));
const separators = new Set(['[', '{', ','].map((character) => character.charCodeAt(0)));

/** Port on which the UiAutomator2 server listens, on the phone itself. */
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

const headEnd = Buffer.from('\r\n\r\n');
const maxHeadBytes = 64 * 1024;

export interface HelperReply extends Static<typeof Reply> {
  readonly bytes: Buffer;
}

/** Error that the helper answered with; `kind` is a word of the W3C WebDriver table, such as `no such element`. */
export class HelperError extends Error {
  override readonly name = 'HelperError';
  readonly kind: string;
  /** Java stack trace. The cause is often only here. */
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
  /** Known answer, which is not parsed when it arrives again: the reply then has these bytes, and no value. */
  readonly known?: Buffer | undefined;
  readonly signal: AbortSignal;
}

export interface HelperHttp {
  request(request: HelperRequest): Promise<HelperReply>;
  close(): void;
}

/**
 * Speaks HTTP over ADB sockets, which need no forwarded port on the host that another program could use. Keeps sockets
 * open, except through an adb server: it leaves Nagle's algorithm on, which with TCP's delayed acknowledgement costs 40
 * ms an answer on an old socket and nothing on a new one (measured: 48 ms against 5 ms for a tree).
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
  /** Takes an idle socket, which no other request uses until it is put back. */
  const take = (): HelperSocket | undefined => {
    for (let socket = resting.pop(); socket !== undefined; socket = resting.pop())
      if (open.has(socket)) return socket;
    return undefined;
  };
  return {
    async request(request) {
      const { signal } = request;
      const socket = take() ?? (await connect(signal));
      // Closing the socket ends the exchange.
      const close = (): void => socket.close();
      signal.addEventListener('abort', close);
      try {
        signal.throwIfAborted();
        const bound = boundOf(request.path);
        const { status, body } = await socket.exchange(bytesOf(request, keepsOpen), bound);
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

interface AnswerBound {
  readonly maxBytes: number;
  readonly refusal: () => Error;
}

/** Maximum length of the helper's answer to a path. */
function boundOf(path: string): AnswerBound {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const maxBytes = textBytes.get(name) ?? defaultMaxBytes;
  if (name === 'source') return { maxBytes, refusal: tooManyBytes };
  return {
    maxBytes,
    refusal: () => new Error(`The UI helper answered with more than ${maxBytes} bytes`),
  };
}

/** Throws when a long answer has more than long texts: parsed, it would take many times its length. */
function checkAnswerShape(body: Uint8Array): void {
  if (body.length <= defaultMaxBytes) return;
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

interface HelperAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/**
 * Socket to the helper, for one HTTP exchange after the other. Written by hand, because node:http over a custom stream
 * costs more than all the rest of a call (measured: 0.81 ms against 0.37 ms).
 */
class HelperSocket {
  readonly #socket: AdbSocket;
  readonly #onClose: () => void;
  readonly #reader: { read(): Promise<{ value?: Uint8Array | undefined }>; cancel(): Promise<void> };
  readonly #writer: { write(chunk: Uint8Array): Promise<void>; abort(): Promise<void> };
  /** Pending read. There is always one, so that the end of an idle socket is noticed. */
  #next: Promise<Uint8Array | undefined>;
  #isOpen = true;
  #isResting = true;

  /** Wraps a socket. `onClose` is called when no other exchange may begin. */
  constructor(socket: AdbSocket, onClose: () => void) {
    this.#socket = socket;
    this.#onClose = onClose;
    this.#reader = socket.readable.getReader();
    this.#writer = socket.writable.getWriter();
    this.#next = this.#read();
  }

  /**
   * Sends a request and reads its answer. Rejects when the socket ends before the answer does, and when the answer is
   * invalid or too long.
   */
  async exchange(request: Uint8Array, bound: AnswerBound): Promise<HelperAnswer> {
    this.#isResting = false;
    // Ignores a failed write: reading reports the same failure.
    this.#writer.write(request).catch(() => {});
    const { head, rest } = await this.#readHead();
    const { status, sizeBytes, staysOpen } = parseHead(head, bound);
    const body = await this.#readBody(rest, sizeBytes);
    this.#isResting = staysOpen && body.length === sizeBytes;
    if (!this.#isResting) this.close();
    return { status, body: body.subarray(0, sizeBytes) };
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#onClose();
    this.#reader.cancel().catch(() => {});
    this.#writer.abort().catch(() => {});
    closeQuietly(this.#socket);
  }

  async #readHead(): Promise<{ head: string; rest: Buffer }> {
    let bytes: Buffer = Buffer.alloc(0);
    for (;;) {
      bytes = bytes.length === 0 ? await this.#take() : Buffer.concat([bytes, await this.#take()]);
      const end = bytes.indexOf(headEnd);
      if (end !== -1)
        return { head: bytes.toString('latin1', 0, end), rest: bytes.subarray(end + headEnd.length) };
      if (bytes.length > maxHeadBytes) throw new Error('The UI helper does not answer in HTTP');
    }
  }

  async #readBody(first: Buffer, sizeBytes: number): Promise<Buffer> {
    const parts = [first];
    for (let missing = sizeBytes - first.length; missing > 0; missing -= parts.at(-1)?.length ?? 0)
      parts.push(await this.#take());
    return parts.length === 1 ? first : Buffer.concat(parts);
  }

  async #take(): Promise<Buffer> {
    const bytes = await this.#next;
    if (bytes === undefined) throw new Error('The UI helper closed the connection');
    this.#next = this.#read();
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Reads the next bytes; undefined at the end, for any reason. */
  async #read(): Promise<Uint8Array | undefined> {
    const { value } = await this.#reader.read().catch(() => ({ value: undefined }));
    // The socket has ended, or has sent what no request asked for.
    if (value === undefined || this.#isResting) this.close();
    return value;
  }
}

interface Head {
  readonly status: number;
  readonly sizeBytes: number;
  readonly staysOpen: boolean;
}

/** Parses the head of an answer. The helper sends the length with each answer (NettyHttpResponse.java). */
function parseHead(head: string, { maxBytes, refusal }: AnswerBound): Head {
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1];
  const size = /\r\ncontent-length: *(\d+) *(?:\r\n|$)/i.exec(head)?.[1];
  if (status === undefined || size === undefined)
    throw new Error('The UI helper answered in an unknown form of HTTP');
  const sizeBytes = Number(size);
  if (sizeBytes > maxBytes) throw refusal();
  return {
    status: Number(status),
    sizeBytes,
    staysOpen: !/\r\nconnection: *close *(?:\r\n|$)/i.test(head),
  };
}
