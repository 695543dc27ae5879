import type { IncomingMessage } from 'node:http';
import { errorText } from '@phalanx/settings';

import {
  closeCodes,
  type HostFrameHeader,
  type HostMessage,
  maxServerFrameBytes,
  ServerMessage,
} from '@phalanx/protocol';
import { type RawData, WebSocket } from 'ws';
import { Compile } from 'typebox/compile';

import { type Hello, pagesOfHello } from './pages.ts';
import type { ServiceClock } from './service-clock.ts';

/** Number of unanswered heartbeats after which the connection is cut, because another server may take over the host. */
const toleratedSilence = 2;
const closeTimeoutMs = 1000;
const lateMessageMs = 50;

/** Reason why a connection ended. `welcomed` is whether the server ever welcomed the host on it. */
export interface SessionEnd {
  kind: 'refused' | 'closed' | 'unreachable';
  welcomed: boolean;
  /** HTTP status for `refused`, WebSocket close code for `closed`, 0 otherwise. */
  code: number;
  reason: string;
}

export interface SessionOptions {
  url: URL;
  token: string;
  clock: ServiceClock;
  /** Timeout for the server to open the connection, and again to welcome the host, in milliseconds. */
  answerTimeoutMs: number;
  /** Returns the first message, which is sent in pages. Called when the socket is open. */
  hello: () => Hello;
  /** Serials of the phones that answered after `sinceMs` (host's clock). */
  listReady: (sinceMs: number) => string[];
  /** Reason why the host finds no phones. Undefined when it finds some or when none is connected. */
  problem?: (() => string | undefined) | undefined;
  onWelcome: () => void;
  onMessage: (message: ServerMessage) => void;
}

/** One WebSocket from its opening to its end. No message is processed after `ended` resolves. */
export class Session {
  readonly ended: Promise<SessionEnd>;
  readonly #options: SessionOptions;
  readonly #socket: WebSocket;
  readonly #end = Promise.withResolvers<SessionEnd>();
  #isOver = false;
  #welcomed = false;
  #trouble: Pick<SessionEnd, 'kind' | 'code' | 'reason'> | undefined;
  #helloSentAt = 0;
  #lastBeatAt = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Expires when the server stays silent. */
  #silence: NodeJS.Timeout | undefined;
  #toleratedMs = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.ended = this.#end.promise;
    this.#socket = new WebSocket(options.url, {
      headers: { authorization: `Bearer ${options.token}` },
      perMessageDeflate: false,
      maxPayload: maxServerFrameBytes,
      handshakeTimeout: options.answerTimeoutMs,
    });
    this.#socket.on('open', () => this.#sayHello());
    this.#socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    this.#socket.on('unexpected-response', (_, response) => void this.#refuse(response));
    this.#socket.on('error', (error) => this.#blame('unreachable', 0, error.message));
    this.#socket.on('close', (code, reason) => this.#finish(code, reason.toString()));
  }

  get welcomed(): boolean {
    return this.#welcomed && !this.#isOver;
  }

  /** Number of bytes that wait for the network. */
  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  send(message: HostMessage): boolean {
    return this.#write(JSON.stringify(message));
  }

  /** Sends a frame. Calls `onSent` when the network has taken the frame, or when sending has failed. */
  sendFrame(header: HostFrameHeader, payload: Uint8Array, onSent?: () => void): boolean {
    return this.#write(encodeBinaryFrame(header, payload), onSent);
  }

  /** Closes the WebSocket with a close frame, and terminates the socket when the server does not answer. */
  close(code = 1001, reason = 'The host stops'): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#clearTimers();
    this.#blame('closed', code, reason);
    this.#socket.close(code, reason);
    this.#timer = setTimeout(() => this.#socket.terminate(), closeTimeoutMs);
  }

  #write(data: string | Buffer, onSent?: () => void): boolean {
    if (this.#isOver || this.#socket.readyState !== WebSocket.OPEN) return false;
    // A failed write is followed by 'close', which handles the failure.
    this.#socket.send(data, () => onSent?.());
    return true;
  }

  #sayHello(): void {
    this.#helloSentAt = Date.now();
    for (const page of pagesOfHello(this.#options.hello())) this.send(page);
    const { answerTimeoutMs } = this.#options;
    this.#timer = setTimeout(
      () => this.#cut(`The server did not answer within ${answerTimeoutMs} ms`),
      answerTimeoutMs,
    );
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#isOver) return;
    const message = this.#parse(data, isBinary);
    if (message === undefined) return;
    this.#heardOf();
    if (message.type === 'welcome') this.#welcome(message);
    else if (message.type === 'heartbeat') this.#addClockSample(message.sent_at, message.server_time);
    else this.#options.onMessage(message);
  }

  #parse(data: RawData, isBinary: boolean): ServerMessage | undefined {
    try {
      if (isBinary || !Buffer.isBuffer(data)) throw new Error('a binary frame does not fit the protocol');
      const message = parseServerMessage(data.toString());
      if (this.#welcomed === (message.type !== 'welcome')) return message;
      throw new Error(`a message of type "${message.type}" came out of turn`);
    } catch (error) {
      this.close(closeCodes.protocolError, `The host can't follow: ${reasonOf(error)}`.slice(0, 120));
      return undefined;
    }
  }

  #welcome(message: Extract<ServerMessage, { type: 'welcome' }>): void {
    clearTimeout(this.#timer);
    this.#welcomed = true;
    this.#addClockSample(this.#helloSentAt, message.server_time);
    this.#lastBeatAt = Date.now() - message.heartbeat_ms;
    // The first heartbeat is sent at once, so that the clock is measured well before the first run.
    this.#beat();
    this.#timer = setInterval(() => this.#beat(), message.heartbeat_ms);
    this.#toleratedMs = toleratedSilence * message.heartbeat_ms;
    this.#heardOf();
    this.#options.onWelcome();
  }

  #addClockSample(sentAt: number, serverTime: number): void {
    this.#options.clock.addSample({ sentAt, receivedAt: Date.now(), serverTime });
  }

  #heardOf(): void {
    clearTimeout(this.#silence);
    if (this.#welcomed) this.#silence = setTimeout(() => this.#endSilence(), this.#toleratedMs);
  }

  /**
   * Cuts a silent connection after a grace period, which reads messages that arrived while this process was suspended.
   */
  #endSilence(): void {
    this.#silence = setTimeout(
      () => this.#cut(`The server did not answer ${toleratedSilence} heartbeats`),
      lateMessageMs,
    );
  }

  #beat(): void {
    const sentAt = Date.now();
    const problem = this.#options.problem?.();
    this.send({
      type: 'heartbeat',
      sent_at: sentAt,
      ready: this.#options.listReady(this.#lastBeatAt),
      ...(problem !== undefined && { problem }),
    });
    this.#lastBeatAt = sentAt;
  }

  async #refuse(response: IncomingMessage): Promise<void> {
    const status = response.statusCode ?? 0;
    this.#blame('refused', status, `HTTP ${status}`);
    const message = await readRefusal(response);
    this.#trouble = { kind: 'refused', code: status, reason: `HTTP ${status}${message && `: ${message}`}` };
    this.#socket.terminate();
  }

  #cut(reason: string): void {
    this.#isOver = true;
    this.#blame('unreachable', 0, reason);
    this.#socket.terminate();
  }

  #clearTimers(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#silence);
  }

  /** Keeps the first failure, which is the cause; later failures are its consequences. */
  #blame(kind: SessionEnd['kind'], code: number, reason: string): void {
    this.#trouble ??= { kind, code, reason };
  }

  #finish(code: number, reason: string): void {
    this.#isOver = true;
    this.#clearTimers();
    const trouble = this.#trouble ?? { kind: 'closed', code, reason };
    this.#end.resolve({ ...trouble, welcomed: this.#welcomed });
  }
}

function reasonOf(error: unknown): string {
  return errorText(error);
}

/** Encodes a JSON header, a line feed, and the payload. */
function encodeBinaryFrame(header: HostFrameHeader, payload: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), payload]);
}

const maxBodyBytes = 16 * 1024;

/** Returns the `message` in the error body of a refusal, or an empty string. */
async function readRefusal(response: IncomingMessage): Promise<string> {
  try {
    const body: unknown = JSON.parse(await readText(response));
    const isObject = typeof body === 'object' && body !== null;
    return isObject && 'message' in body && typeof body.message === 'string'
      ? body.message.slice(0, 500)
      : '';
  } catch {
    return '';
  }
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of response) {
    if (!Buffer.isBuffer(chunk)) continue;
    sizeBytes += chunk.byteLength;
    if (sizeBytes > maxBodyBytes) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Messages from the server, except those that maintain the connection itself. */
export type ServerCommand = Exclude<ServerMessage, { type: 'welcome' | 'heartbeat' }>;

const validator = Compile(ServerMessage);

/** Throws an error that names the mismatch when the frame is not a message of the protocol. */
function parseServerMessage(frame: string): ServerMessage {
  const message: unknown = JSON.parse(frame);
  if (validator.Check(message)) return message;
  throw new Error(`a message of type ${typeOf(message)} does not fit the protocol`);
}

function typeOf(message: unknown): string {
  const isObject = typeof message === 'object' && message !== null;
  const type = isObject && 'type' in message ? message.type : undefined;
  return typeof type === 'string' ? JSON.stringify(type.slice(0, 40)) : 'unknown';
}
