import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { PhoneShell } from '../phone-shell.ts';
import { toSocketDuplex } from './socket-duplex.ts';

/** The UiAutomator2 server listens here, on the phone itself. */
const helperPort = 6790;
const maxBodyBytes = 64 * 1024 * 1024;

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

export type HelperReply = Static<typeof Reply>;

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
  const agent = new Agent({ keepAlive: shell.connection.reach === 'direct-tcp', maxSockets: 2 });
  const closing = new AbortController();
  agent.createConnection = (_options, callback) => {
    shell.open(`tcp:${helperPort}`, closing.signal).then(
      (socket) => callback?.(null, toSocketDuplex(socket)),
      // Node's types want a stream beside the error.
      (error: Error) => callback?.(error, new Duplex().destroy()),
    );
    return undefined;
  };
  return {
    request: (request) => send(agent, request),
    close() {
      closing.abort(new Error('The UI helper was stopped'));
      agent.destroy();
    },
  };
}

function send(agent: Agent, { method, path, body, signal }: HelperRequest): Promise<HelperReply> {
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const headers =
    payload === undefined
      ? {}
      : { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(payload) };
  const { promise, resolve, reject } = Promise.withResolvers<HelperReply>();
  const request = httpRequest(
    { agent, method, path, headers, signal, host: '127.0.0.1', port: helperPort },
    (response) => {
      readReply(response).then(resolve, reject);
    },
  );
  request.on('error', (error) => reject(signal.aborted ? signal.reason : error));
  request.end(payload);
  return promise;
}

async function readReply(response: IncomingMessage): Promise<HelperReply> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of response) {
    if (!Buffer.isBuffer(chunk)) continue;
    sizeBytes += chunk.length;
    if (sizeBytes > maxBodyBytes)
      throw new Error(`The UI helper answered with more than ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  return parseReply(Buffer.concat(chunks).toString(), response.statusCode ?? 0);
}

function parseReply(text: string, status: number): HelperReply {
  const reply: unknown = JSON.parse(text);
  if (!replyCheck.Check(reply))
    throw new Error(`The UI helper answered with an unknown form (HTTP ${status})`);
  if (status < 400) return reply;
  const { value } = reply;
  if (failureCheck.Check(value))
    throw new HelperError(value.error, value.message ?? value.error, value.stacktrace);
  throw new HelperError('unknown error', `HTTP ${status}`);
}
