import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  closeCodes,
  hostProtocolVersion,
  hostQuestions,
  oldestHostProtocolVersion,
  RecentBundles,
  type HostAnswerHeader,
  type HostMessage,
  type ServerMessage,
} from '@phalanx/protocol';
import type { Logger } from 'pino';
import type { RawData, WebSocket } from 'ws';
import { notConnected } from '../../storage/bus/bus.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Principal } from '../../http/requests/principal.ts';
import { isOfRuns, parseFrame, parseHostMessage, ProtocolError } from './frames.ts';
import { parseLogEntries } from './parse-log-entries.ts';
import { HelloPages } from './hello-pages.ts';
import type { Limits } from '../../kernel/limits/limits.ts';
import type { TimeSlice } from '../../kernel/limits/time-slice.ts';
import { EpochOver } from '../../storage/db/epochs.ts';
import { HostRefused, type HostSessions } from './host-sessions.ts';
import type { HostLink, HostQuestion } from './host-link.ts';
import type { HostListeners } from './host-listeners.ts';
import { HostRequests } from './host-requests.ts';

interface ConnectionOptions {
  socket: WebSocket;
  principal: Principal;
  address: string | null;
  listeners: HostListeners;
  clock: Clock;
  log: Logger;
  limits: Limits;
  /** Shared by all hosts, because messages from thousands of hosts may arrive in one turn of the event loop. */
  slice: TimeSlice;
  sessions: Pick<HostSessions, 'open' | 'end' | 'setProblem'>;
  heartbeatMs: number;
}

/** First protocol version with secrets: hosts of earlier versions can't mask them. */
const secretsVersion = 8;
/** First protocol version with app limits: hosts of earlier versions let every token use all apps. */
const appLimitsVersion = 9;
/** Number of missed heartbeats after which a host counts as disconnected; its phones stop being ready after two. */
const toleratedSilence = 5;
const helloTimeoutMs = 10_000;
/** Minimum interval between two stored problems of one host, in ms. */
const problemEveryMs = 1000;
/** Maximum size of the queue of received messages per host; reading the socket pauses when either limit is reached. */
const maxQueued = { messages: 64, bytes: 4 * 1024 * 1024 };
/** Maximum bytes of run reports that are stored in one batch. */
const maxJoinedBytes = 64 * 1024;
/** Maximum bytes that are buffered for a host that does not read; two launches of the largest size fit. */
const maxUnreadBytes = 128 * 1024 * 1024;

/** Narrows to a Buffer: `ws` delivers single buffers unless `binaryType` is changed. */
const asBuffer = (data: RawData): Buffer => (Buffer.isBuffer(data) ? data : Buffer.alloc(0));

/** One connection of a host: reads its messages in order, one at a time. */
export class HostConnection implements HostLink {
  readonly userId: string;
  readonly userName: string;
  readonly principal: Principal;
  readonly address: string | null;
  readonly tokenId: string;
  /** End of the token, epoch ms. */
  readonly expiresAt: number;
  readonly bundles = new RecentBundles<true>();
  epoch = 0;
  hostId = '';
  hostName = '';
  readonly #options: ConnectionOptions;
  /** Rate limit key of the connection until the host sends its ID. */
  readonly #name = randomUUID();
  readonly #requests = new HostRequests();
  readonly #pages = new HelloPages();
  #version = 0;
  /** Reason why the host finds no phones, as stored, and the earliest time for the next store. */
  #problem: { stored: string | null; nextAt: number } = { stored: null, nextAt: 0 };
  readonly #queue: { bytes: Buffer; isBinary: boolean }[] = [];
  #queuedBytes = 0;
  #isHandling = false;
  #isOpen = true;
  readonly #closed = Promise.withResolvers<void>();
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

  /** Resolves when the connection is closed and the listeners have been notified. */
  get whenClosed(): Promise<void> {
    return this.#closed.promise;
  }

  send(message: ServerMessage): void {
    if (!this.#isOpen) return;
    const { socket } = this.#options;
    socket.send(JSON.stringify(message));
    if (socket.bufferedAmount > maxUnreadBytes) this.drop(closeCodes.tryAgainLater, 'the host does not read');
  }

  get knowsSecrets(): boolean {
    return this.#version >= secretsVersion;
  }

  get knowsAppLimits(): boolean {
    return this.#version >= appLimitsVersion;
  }

  ask(question: HostQuestion): Promise<Buffer> {
    if (!this.#isOpen) return Promise.reject(new Error(notConnected));
    const isLimited = question.app_limit !== undefined && !this.knowsAppLimits;
    if (isLimited || this.#version < hostQuestions[question.type].since)
      return Promise.reject(new Error('its host is of an earlier release: run the same release on both'));
    return this.#requests.ask((request_id) => this.send({ ...question, request_id }));
  }

  drop(closeCode: number, reason: string): void {
    const { socket } = this.#options;
    socket.close(closeCode, reason);
    // Messages that still arrive are useless, and a peer that does not answer the close must not hold the connection
    // open.
    this.#close();
    setTimeout(() => socket.terminate(), 1000).unref();
  }

  #enqueue(bytes: Buffer, isBinary: boolean): void {
    if (!this.#isOpen) return;
    this.#silence.refresh();
    this.#queue.push({ bytes, isBinary });
    this.#queuedBytes += bytes.length;
    if (this.#isFull(1)) this.#options.socket.pause();
    if (!this.#isHandling) void this.#handleAll();
  }

  async #handleAll(): Promise<void> {
    const { slice } = this.#options;
    this.#isHandling = true;
    try {
      for (let next = this.#shift(); next !== undefined && this.#isOpen; next = this.#shift()) {
        // A message that waits in the queue also proves that the host is alive.
        this.#silence.refresh();
        while (slice.isOver) await slice.next();
        await this.#keepPace();
        if (!this.#isOpen) return;
        if (next.isBinary) await this.#handleFrame(next.bytes);
        else await this.#takeMessage(next.bytes);
        if (this.#options.socket.isPaused && !this.#isFull(0.5)) this.#options.socket.resume();
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isHandling = false;
    }
  }

  #shift(): { bytes: Buffer; isBinary: boolean } | undefined {
    const next = this.#queue.shift();
    this.#queuedBytes -= next?.bytes.length ?? 0;
    return next;
  }

  /** Whether the queue is filled to this share of its maximum. */
  #isFull(share: number): boolean {
    const { messages, bytes } = maxQueued;
    return this.#queue.length >= share * messages || this.#queuedBytes >= share * bytes;
  }

  /** Throttles reading from a host that exceeds its message rate. */
  async #keepPace(): Promise<void> {
    const { frames } = this.#options.limits;
    const key = `${this.userId} ${this.hostId || this.#name}`;
    for (let waitMs = frames.spend(key); waitMs > 0; waitMs = frames.spend(key)) {
      this.#options.limits.note('host_messages', this.userId);
      await pause(waitMs);
    }
  }

  async #takeMessage(bytes: Buffer): Promise<void> {
    const message = this.#withRunsBehind(parseHostMessage(bytes));
    const handled = this.#handleMessage(message);
    // Storing run reports is not awaited, so that a slow disk does not delay the next messages of the host.
    if (message.type !== 'runs' || this.hostId === '') await handled;
  }

  /** Merges consecutive queued run reports into one message, because each store waits for the disk. */
  #withRunsBehind(message: HostMessage): HostMessage {
    if (message.type !== 'runs') return message;
    const runs = [...message.runs];
    let room = maxJoinedBytes;
    for (let next = this.#queue[0]; next?.isBinary === false && isOfRuns(next.bytes); next = this.#queue[0]) {
      room -= next.bytes.length;
      if (room < 0) break;
      const behind = parseHostMessage(next.bytes);
      if (behind.type !== 'runs') break;
      runs.push(...behind.runs);
      this.#shift();
    }
    return { ...message, runs };
  }

  #handleFrame(frame: Buffer): Promise<void> | void {
    const { header, payload } = parseFrame(frame);
    if (this.hostId === '') throw new ProtocolError('the first message must be hello');
    if (header.type !== 'logs') return this.#takeAnswer(header, payload);
    const entries = parseLogEntries(payload);
    const logs = { firstSeq: header.first_seq, entries, sizeBytes: payload.length };
    return this.#options.listeners.notify('logs', this, header.run_id, logs);
  }

  #takeAnswer({ type, request_id }: HostAnswerHeader, payload: Buffer): void {
    const { maxAnswerBytes: maxBytes } = hostQuestions[type];
    if (payload.length <= maxBytes) return this.#requests.answer(request_id, payload);
    this.#requests.refuse(request_id, `its host answered with more than ${maxBytes} bytes`);
  }

  async #handleMessage(message: HostMessage): Promise<void> {
    const { listeners, clock } = this.#options;
    const hello = this.#pages.take(message);
    if (hello === 'more') return;
    if (hello !== undefined) return this.#welcome(hello);
    if (this.hostId === '') throw new ProtocolError('the first message must be hello');
    if (message.type === 'hello' || message.type === 'hello_more') return;
    if (message.type === 'devices') return listeners.notify('devices', this, message.devices);
    if (message.type === 'runs') return this.#reportRuns(message.runs);
    if (message.type === 'record') return listeners.notify('record', this, message.record);
    if (message.type === 'request_failed') return this.#requests.refuse(message.request_id, message.message);
    this.#silence.refresh();
    this.send({ type: 'heartbeat', sent_at: message.sent_at, server_time: clock.now() });
    await listeners.notify('heartbeat', this, message.ready);
    // The problem comes last, so that readiness of phones never waits for a disk write.
    return this.#takeProblem(message.problem ?? null);
  }

  /** Stores a changed problem. Throttled: of a problem that changes with every message, only some are stored. */
  async #takeProblem(problem: string | null): Promise<void> {
    if (problem === this.#problem.stored || performance.now() < this.#problem.nextAt) return;
    this.#problem.nextAt = performance.now() + problemEveryMs;
    if (await this.#options.sessions.setProblem(this.epoch, problem)) this.#problem.stored = problem;
  }

  /** Resolves even when storing the reports fails. */
  #reportRuns(reports: Extract<HostMessage, { type: 'runs' }>['runs']): Promise<void> {
    return this.#options.listeners.notify('runs', this, reports).catch((error: unknown) => this.#fail(error));
  }

  async #welcome(hello: Extract<HostMessage, { type: 'hello' }>): Promise<void> {
    const { listeners, heartbeatMs, clock, sessions } = this.#options;
    if (this.hostId !== '') throw new ProtocolError('hello was sent twice');
    requireVersion(hello.protocol_version);
    const { userId, tokenId } = this;
    this.#version = hello.protocol_version;
    const { knowsSecrets, knowsAppLimits } = this;
    const { host_id: hostId, host_name: hostName, replays = false } = hello;
    const knows = { knowsSecrets, knowsAppLimits, replays };
    this.epoch = await sessions.open({ userId, tokenId, hostId, hostName, ...knows });
    if (!this.#isOpen) return sessions.end(this.epoch);
    this.hostId = hostId;
    this.hostName = hostName;
    clearTimeout(this.#silence);
    this.#silence = this.#watchSilence(toleratedSilence * heartbeatMs);
    this.send({ type: 'welcome', server_time: clock.now(), heartbeat_ms: heartbeatMs });
    await listeners.notify('hello', this, hello);
  }

  #watchSilence(timeoutMs: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#options.log.warn({ host: this.hostName }, 'host is silent: closing its connection');
      this.#options.socket.terminate();
      this.#close();
    }, timeoutMs).unref();
  }

  #fail(error: unknown): void {
    if (error instanceof EpochOver) return this.drop(closeCodes.replaced, error.message);
    const isTheirs = error instanceof ProtocolError || error instanceof HostRefused;
    if (isTheirs) this.#options.log.warn({ host: this.hostName, reason: error.message }, 'host was refused');
    else
      this.#options.log.error(
        { err: error, host: this.hostName },
        'a message from a host could not be handled',
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
    this.#queuedBytes = 0;
    this.#requests.close();
    if (this.hostId === '') return this.#closed.resolve();
    this.#options.sessions.end(this.epoch);
    void this.#notifyClosed();
  }

  /** Yields between time slices, because all connections may break at the same moment. */
  async #notifyClosed(): Promise<void> {
    const { slice, listeners } = this.#options;
    while (slice.isOver) await slice.next();
    void listeners.notify('closed', this);
    this.#closed.resolve();
  }
}

function requireVersion(version: number): void {
  if (version >= oldestHostProtocolVersion && version <= hostProtocolVersion) return;
  throw new ProtocolError(
    `this server speaks version ${hostProtocolVersion} of the host protocol, the host ${version}: run the same release on both`,
  );
}
