import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import {
  type PhoneInput,
  closeCodes,
  hostProtocolVersion,
  oldestHostProtocolVersion,
  RecentBundles,
  maxFrameBytes,
  type HostMessage,
  type ServerMessage,
} from '@phalanx/protocol';
import type { Logger } from 'pino';
import type { RawData, WebSocket } from 'ws';

import type { Clock } from '../clock.ts';
import type { Principal } from '../http/principal.ts';
import { HelloPages, parseFrame, parseHostMessage, parseLogEntries, ProtocolError } from './frames.ts';
import type { Limits } from '../limits/limits.ts';
import { HostRefused, type HostCandidate } from './host-admission.ts';
import type { HostLink } from './host-link.ts';
import { HostRequests } from './host-requests.ts';
import type { HostListeners } from './host-listeners.ts';

interface ConnectionOptions {
  socket: WebSocket;
  principal: Principal;
  address: string | null;
  listeners: HostListeners;
  clock: Clock;
  log: Logger;
  limits: Limits;
  /** Throws `HostRefused`. */
  admitHost: (candidate: HostCandidate) => Promise<void>;
  heartbeatMs: number;
}

/** Hosts of the version before know no live view. */
const liveVersion = 5;
/** Missed heartbeats after which a host counts as gone. */
const toleratedSilence = 3;
const helloTimeoutMs = 10_000;
/** Messages that wait to be handled; beyond it the socket is not read. */
const maxQueued = 64;
/** Between messages that are larger, others have their turn. */
const smallBytes = 64 * 1024;
/** Messages that a host has not read; two launches of the largest size fit. */
const maxUnreadBytes = 4 * maxFrameBytes;

/** `ws` gives single buffers unless it is asked for something else. */
const asBuffer = (data: RawData): Buffer => (Buffer.isBuffer(data) ? data : Buffer.alloc(0));

const runsHead = Buffer.from('{"type":"runs"');

/** Hosts write the type first; what does otherwise is handled alone. */
const isOfRuns = ({ bytes, isBinary }: { bytes: Buffer; isBinary: boolean }): boolean =>
  !isBinary && bytes.subarray(0, runsHead.length).equals(runsHead);

/** One connection of a host: reads its messages in order, one at a time. */
export class HostConnection implements HostLink {
  readonly connectionId = randomUUID();
  readonly userId: string;
  readonly userName: string;
  readonly principal: Principal;
  readonly address: string | null;
  readonly tokenId: string;
  /** When the token ends, epoch ms. */
  readonly expiresAt: number;
  readonly bundles = new RecentBundles<true>();
  hostId = '';
  hostName = '';
  readonly #options: ConnectionOptions;
  readonly #requests = new HostRequests();
  readonly #pages = new HelloPages();
  #version = 0;
  readonly #queue: { bytes: Buffer; isBinary: boolean }[] = [];
  #isHandling = false;
  #isOpen = true;
  #silence: NodeJS.Timeout;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.userId = options.principal.userId;
    this.userName = options.principal.userName;
    this.principal = options.principal;
    this.address = options.address;
    this.tokenId = options.principal.tokenId;
    this.expiresAt = options.principal.expiresAt ?? Infinity;
    this.#silence = this.#watchSilence(helloTimeoutMs);
    options.socket.on('message', (data, isBinary) => this.#enqueue(asBuffer(data), isBinary));
    options.socket.on('close', () => this.#close());
    options.socket.on('error', (error) => options.log.warn({ err: error }, 'host socket failed'));
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  send(message: ServerMessage): void {
    if (!this.#isOpen) return;
    const { socket } = this.#options;
    socket.send(JSON.stringify(message));
    if (socket.bufferedAmount > maxUnreadBytes) this.drop(closeCodes.tryAgainLater, 'the host does not read');
  }

  requestScreenshot(serial: string): Promise<Buffer> {
    return this.#ask((request_id) => ({ type: 'screenshot', request_id, serial }));
  }

  requestScreen(serial: string, width: number | null): Promise<Buffer> {
    return this.#ask((request_id) => ({ type: 'screen', request_id, serial, width }));
  }

  requestHealth(serial: string): Promise<Buffer> {
    return this.#ask((request_id) => ({ type: 'health', request_id, serial }));
  }

  async requestInput(serial: string, input: PhoneInput): Promise<void> {
    await this.#ask((request_id) => ({ type: 'input', request_id, serial, input }));
  }

  requestLive(serial: string, known: string | null): Promise<Buffer> {
    return this.#ask((request_id) => ({ type: 'live', request_id, serial, known }), liveVersion);
  }

  #ask(
    message: (requestId: string) => ServerMessage,
    sinceVersion = oldestHostProtocolVersion,
  ): Promise<Buffer> {
    if (!this.#isOpen) return Promise.reject(new Error('its host is not connected'));
    if (this.#version < sinceVersion)
      return Promise.reject(new Error('its host is of an older release: bring it up to date'));
    return this.#requests.ask((requestId) => this.send(message(requestId)));
  }

  drop(closeCode: number, reason: string): void {
    const { socket } = this.#options;
    socket.close(closeCode, reason);
    // What still arrives on it is of no use, and a peer that does not answer the close must not hold it.
    this.#close();
    setTimeout(() => socket.terminate(), 1000).unref();
  }

  #enqueue(bytes: Buffer, isBinary: boolean): void {
    if (!this.#isOpen) return;
    this.#queue.push({ bytes, isBinary });
    if (this.#queue.length >= maxQueued) this.#options.socket.pause();
    if (!this.#isHandling) void this.#handleAll();
  }

  async #handleAll(): Promise<void> {
    this.#isHandling = true;
    try {
      for (let next = this.#queue.shift(); next !== undefined && this.#isOpen; next = this.#queue.shift()) {
        if (next.bytes.length > smallBytes) await nextTurn();
        await this.#keepPace();
        if (next.isBinary) await this.#options.limits.logCourtesy.wait(this.userId, next.bytes.length);
        if (next.isBinary) await this.#handleFrame(next.bytes);
        else await this.#handleMessage(this.#withRunsBehind(parseHostMessage(next.bytes)));
        if (this.#options.socket.isPaused && this.#queue.length < maxQueued / 2)
          this.#options.socket.resume();
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isHandling = false;
    }
  }

  /** A host that says too much is read more slowly. */
  async #keepPace(): Promise<void> {
    const { frames } = this.#options.limits;
    const key = `${this.userId} ${this.hostId || this.connectionId}`;
    for (let waitMs = frames.spend(key); waitMs > 0; waitMs = frames.spend(key)) {
      this.#options.limits.note('host_messages', this.userId);
      await pause(waitMs);
    }
  }

  /** Reports of runs that have come one by one are stored together: each store waits for the disk. */
  #withRunsBehind(message: HostMessage): HostMessage {
    if (message.type !== 'runs') return message;
    const runs = [...message.runs];
    let room = smallBytes;
    for (let next = this.#queue[0]; next !== undefined && isOfRuns(next); next = this.#queue[0]) {
      room -= next.bytes.length;
      if (room < 0) break;
      const behind = parseHostMessage(next.bytes);
      if (behind.type !== 'runs') break;
      runs.push(...behind.runs);
      this.#queue.shift();
    }
    return { ...message, runs };
  }

  #handleFrame(frame: Buffer): Promise<void> | void {
    const { header, payload } = parseFrame(frame);
    if (this.hostId === '') throw new ProtocolError('the first message must be hello');
    if (header.type !== 'logs') return this.#requests.answer(header.request_id, payload);
    const batch = {
      firstSeq: header.first_seq,
      entries: parseLogEntries(payload),
      sizeBytes: payload.length,
    };
    return this.#options.listeners.tell('logs', this, header.run_id, batch);
  }

  async #handleMessage(message: HostMessage): Promise<void> {
    const { listeners, clock } = this.#options;
    const hello = this.#pages.take(message);
    if (hello === 'more') return;
    if (hello !== undefined) return this.#welcome(hello);
    if (this.hostId === '') throw new ProtocolError('the first message must be hello');
    if (message.type === 'hello' || message.type === 'hello_more') return;
    if (message.type === 'devices') return listeners.tell('devices', this, message.devices);
    if (message.type === 'runs') return this.#tellRuns(message.runs);
    if (message.type === 'record') return listeners.tell('record', this, message.record);
    if (message.type === 'request_failed') return this.#requests.refuse(message.request_id, message.message);
    this.#silence.refresh();
    this.send({ type: 'heartbeat', sent_at: message.sent_at, server_time: clock.now() });
    return listeners.tell('heartbeat', this, message.ready);
  }

  /** Not waited for: what the host says next is not held up by the disk. */
  #tellRuns(reports: Extract<HostMessage, { type: 'runs' }>['runs']): void {
    this.#options.listeners.tell('runs', this, reports).catch((error: unknown) => this.#fail(error));
  }

  async #welcome(hello: Extract<HostMessage, { type: 'hello' }>): Promise<void> {
    const { listeners, heartbeatMs, clock } = this.#options;
    if (this.hostId !== '') throw new ProtocolError('hello was said twice');
    requireVersion(hello.protocol_version);
    const { userId, tokenId } = this;
    await this.#options.admitHost({ userId, tokenId, hostId: hello.host_id });
    if (!this.#isOpen) return;
    this.#version = hello.protocol_version;
    this.hostId = hello.host_id;
    this.hostName = hello.host_name;
    clearTimeout(this.#silence);
    this.#silence = this.#watchSilence(toleratedSilence * heartbeatMs);
    this.send({ type: 'welcome', server_time: clock.now(), heartbeat_ms: heartbeatMs });
    await listeners.tell('hello', this, hello);
  }

  #watchSilence(timeoutMs: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#options.log.warn({ host: this.hostName }, 'host is silent: its connection is ended');
      this.#options.socket.terminate();
      this.#close();
    }, timeoutMs).unref();
  }

  #fail(error: unknown): void {
    const isTheirs = error instanceof ProtocolError || error instanceof HostRefused;
    if (isTheirs) this.#options.log.warn({ host: this.hostName, reason: error.message }, 'host was refused');
    else
      this.#options.log.error(
        { err: error, host: this.hostName },
        'a message of a host could not be handled',
      );
    const code = error instanceof HostRefused ? closeCodes.refused : closeCodes.protocolError;
    if (isTheirs) this.drop(code, error.message.slice(0, 120));
    else this.drop(1011, 'the service could not handle a message');
  }

  #close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    clearTimeout(this.#silence);
    this.#queue.length = 0;
    this.#requests.close();
    if (this.hostId !== '') void this.#options.listeners.tell('closed', this);
  }
}

function requireVersion(version: number): void {
  if (version >= oldestHostProtocolVersion && version <= hostProtocolVersion) return;
  throw new ProtocolError(
    `this server speaks version ${hostProtocolVersion} of the host protocol, the host ${version}: run the same release on both`,
  );
}
