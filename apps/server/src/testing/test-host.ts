import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

import {
  isEnded,
  type DeviceReport,
  type RunReport,
  type ServerMessage,
  type WireLogEntry,
} from '@phalanx/protocol';

import { deviceReport, HostWire, LogBuffer, logsHeader } from './host-wire.ts';

type MessageOf<Type extends ServerMessage['type']> = Extract<ServerMessage, { type: Type }>;

type RequestMessage = Extract<ServerMessage, { request_id: string }>;

/** `silent` leaves the answer to the test. */
export type LaunchHabit = 'ack' | 'refuse' | 'silent' | 'ends_at_once';

export interface TestHostOptions {
  url: string;
  token: string;
  serials?: readonly string[];
  hostId?: string;
  launchHabit?: LaunchHabit;
  stopHabit?: 'confirm' | 'silent';
  /** `answer`: what is asked for is there, or done, at once. */
  requestHabit?: 'answer' | 'silent';
  /** `regular`: as often as the server asks for it. `silent`: only when the test says so. Default: `regular`. */
  heartbeatHabit?: 'regular' | 'silent';
}

/** A server takes in a hello within milliseconds; on a machine that is busy with other things, within seconds. */
const answerMs = 60_000;
const silent = Symbol('silent');

interface Waiter {
  isMet: (message: ServerMessage) => boolean;
  resolve: (message: ServerMessage) => void;
}

/** Speaks the host's side of the wire, without phones. */
export class TestHost {
  url: string;
  readonly hostId: string;
  launchHabit: LaunchHabit;
  stopHabit: 'confirm' | 'silent';
  requestHabit: 'answer' | 'silent';
  /** Answers a question in place of the habit, unless it is undefined: with a message, or with a frame. */
  answerWith: (question: RequestMessage) => string | Buffer | undefined = () => undefined;
  devices: DeviceReport[];
  /** Every message of every connection, in order. */
  readonly received: ServerMessage[] = [];
  /** Runs that hello reports. */
  readonly runs = new Map<string, RunReport>();
  readonly logBuffers = new Map<string, LogBuffer>();
  /** Close code of the last connection. */
  closeCode = 0;
  readonly #token: string;
  readonly #heartbeatHabit: 'regular' | 'silent';
  readonly #waiters = new Set<Waiter>();
  #wire: HostWire | undefined;
  #closed = Promise.resolve();
  #pulse: NodeJS.Timeout | undefined;

  constructor(options: TestHostOptions) {
    this.url = options.url;
    this.#token = options.token;
    this.hostId = options.hostId ?? randomUUID();
    this.launchHabit = options.launchHabit ?? 'ack';
    this.stopHabit = options.stopHabit ?? 'confirm';
    this.requestHabit = options.requestHabit ?? 'silent';
    this.#heartbeatHabit = options.heartbeatHabit ?? 'regular';
    this.devices = (options.serials ?? ['serial-1']).map((serial) => deviceReport(serial));
  }

  static async connected(options: TestHostOptions): Promise<TestHost> {
    const host = new TestHost(options);
    await host.connect();
    return host;
  }

  /** Resolves when the server has taken in the hello. Rejects when it says nothing for a minute. */
  async connect(): Promise<void> {
    await this.open();
    this.sendHello();
    const late = pause(answerMs, silent, { ref: false });
    if ((await Promise.race([this.heartbeat(), late])) !== silent) return;
    const types = this.received.map(({ type }) => type).join(', ') || 'nothing';
    throw new Error(`a server has not answered a hello within ${answerMs / 1000} s; it said: ${types}`);
  }

  /** A socket without a hello. Rejects with the HTTP status when the server refuses it. */
  async open(): Promise<void> {
    const wire = new HostWire({
      url: this.url,
      token: this.#token,
      onMessage: (message) => this.#receive(message),
      handshakeTimeoutMs: answerMs,
    });
    this.#closed = wire.closed.then(({ code }) => {
      this.closeCode = code;
      clearInterval(this.#pulse);
    });
    await wire.opened;
    this.#wire = wire;
  }

  sendHello(more: Record<string, unknown> = {}): void {
    const { hostId, devices } = this;
    this.#wire?.hello({ hostId, name: 'test host', devices, runs: [...this.runs.values()] }, more);
  }

  /** Confirms the ready phones. What was sent before has been handled when it resolves. */
  async heartbeat(ready: readonly string[] = this.#readySerials()): Promise<void> {
    const sentAt = Math.floor(Math.random() * 2 ** 50);
    const answer = this.waitFor('heartbeat', (message) => message.sent_at === sentAt);
    this.#wire?.heartbeat(ready, sentAt);
    await Promise.race([answer, this.#closed]);
  }

  send(message: unknown): void {
    this.sendRaw(JSON.stringify(message));
  }

  sendRaw(data: string | Buffer): void {
    this.#wire?.sendRaw(data);
  }

  /** Cuts the connection as a broken cable would, and waits until this end has seen it. */
  async cut(): Promise<void> {
    this.#wire?.cut();
    await this.#closed;
  }

  /** Resolves with the close code when the connection has ended. */
  async ended(): Promise<number> {
    await this.#closed;
    return this.closeCode;
  }

  get isOpen(): boolean {
    return this.#wire?.isOpen === true;
  }

  pause(): void {
    this.#wire?.pause();
  }

  messages<Type extends ServerMessage['type']>(type: Type): MessageOf<Type>[] {
    return this.received.filter((message): message is MessageOf<Type> => message.type === type);
  }

  /** The next message of this type, from now on. */
  waitFor<Type extends ServerMessage['type']>(
    type: Type,
    isMeant: (message: MessageOf<Type>) => boolean = () => true,
  ): Promise<MessageOf<Type>> {
    const isMet = (message: ServerMessage): message is MessageOf<Type> => message.type === type;
    return new Promise((resolve) => {
      const waiter: Waiter = {
        isMet: (message) => isMet(message) && isMeant(message),
        resolve: (message) => {
          if (isMet(message)) resolve(message);
        },
      };
      this.#waiters.add(waiter);
    });
  }

  /** Reports how runs stand, and remembers it for the next hello. */
  report(runId: string, status: RunReport['status'], more: Partial<RunReport> = {}): void {
    const before = this.runs.get(runId);
    const report: RunReport = {
      run_id: runId,
      status,
      error: null,
      started_at: before?.started_at ?? Date.now(),
      ended_at: isEnded(status) ? Date.now() : null,
      ...more,
    };
    this.runs.set(runId, report);
    this.send({ type: 'runs', runs: [report] });
  }

  /** Tells the end of a run, and resolves when it is stored: beside PostgreSQL, later messages may be answered before. */
  async end(...report: Parameters<TestHost['report']>): Promise<void> {
    this.report(...report);
    while (this.runs.has(report[0])) await this.waitFor('runs_stored');
  }

  /** Adds entries to a run's buffer, without sending them. */
  buffer(runId: string, entries: readonly WireLogEntry[]): void {
    const buffer = this.logBuffers.get(runId) ?? new LogBuffer();
    buffer.entries.push(...entries);
    this.logBuffers.set(runId, buffer);
  }

  /** Sends a run's buffered entries in frames of this size; at most `frames` of them. */
  sendLogs(runId: string, batchSize = 1000, frames = Infinity): void {
    const buffer = this.logBuffers.get(runId);
    if (buffer === undefined) return;
    for (let at = 0; at < buffer.entries.length && at / batchSize < frames; at += batchSize) {
      this.sendLogFrame(runId, buffer.firstSeq + at, buffer.entries.slice(at, at + batchSize));
    }
  }

  sendLogFrame(runId: string, firstSeq: number, entries: unknown): void {
    this.#wire?.sendFrame(logsHeader(runId, firstSeq), JSON.stringify(entries));
  }

  /** Logs these messages now, and resolves when they are stored. */
  async log(runId: string, messages: readonly string[]): Promise<void> {
    this.buffer(
      runId,
      messages.map((message) => [Date.now(), 0, 1, message]),
    );
    this.sendLogs(runId);
    await this.logsStored(runId);
  }

  /** Resolves when the server has acknowledged everything that is buffered. */
  async logsStored(runId: string): Promise<void> {
    while ((this.logBuffers.get(runId)?.entries.length ?? 0) > 0) await this.waitFor('logs_stored');
  }

  #receive(message: ServerMessage): void {
    this.received.push(message);
    this.#answer(message);
    for (const waiter of this.#waiters) {
      if (!waiter.isMet(message)) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(message);
    }
  }

  #answer(message: ServerMessage): void {
    if (message.type === 'welcome') this.#beatEvery(message.heartbeat_ms);
    if (message.type === 'launch') for (const run of message.runs) this.#answerLaunch(run.run_id);
    if (message.type === 'stop' && this.stopHabit === 'confirm') this.#answerStop(message.run_ids);
    if (message.type === 'runs_stored') for (const id of message.run_ids) this.runs.delete(id);
    if (message.type === 'logs_stored') this.logBuffers.get(message.run_id)?.acknowledge(message.seq);
    if (!('request_id' in message)) return;
    const answer = this.answerWith(message);
    if (answer !== undefined) this.sendRaw(answer);
    else if (this.requestHabit === 'answer') this.sendRaw(Buffer.from(answerTo(message)));
  }

  #readySerials(): string[] {
    return this.devices.filter(({ state }) => state === 'ready').map(({ serial }) => serial);
  }

  #beatEvery(intervalMs: number): void {
    clearInterval(this.#pulse);
    if (this.#heartbeatHabit === 'silent') return;
    this.#pulse = setInterval(() => this.#wire?.heartbeat(this.#readySerials()), intervalMs);
    this.#pulse.unref();
  }

  #answerLaunch(runId: string): void {
    if (this.launchHabit === 'ack') this.report(runId, 'running');
    if (this.launchHabit === 'ends_at_once') this.report(runId, 'completed');
    if (this.launchHabit === 'refuse') {
      const error = { code: 'no_memory', message: 'the host has no memory left' };
      this.report(runId, 'failed', { error, started_at: null });
    }
  }

  #answerStop(runIds: readonly string[]): void {
    for (const runId of runIds) {
      const known = this.runs.get(runId);
      if (known === undefined || isEnded(known.status)) {
        this.send({ type: 'runs', runs: [known ?? endedReport(runId)] });
      } else this.report(runId, 'stopped');
    }
  }
}

const endedReport = (runId: string): RunReport => ({
  run_id: runId,
  status: 'stopped',
  error: null,
  started_at: null,
  ended_at: Date.now(),
});

/** Answers a question about a phone: a dark screen, and nothing to tell. */
function answerTo({ type, request_id }: Extract<ServerMessage, { request_id: string }>): string {
  const [captured_at, width, height] = [1, 1080, 2424];
  const screen = JSON.stringify({
    captured_at,
    rotation: 0,
    width,
    height,
    picture: null,
    tree: { packageName: 'android', source: 'uiautomator2', root: {} },
  });
  const answers: Record<typeof type, string> = {
    screenshot: 'JPEG-bytes',
    screen,
    act: `${JSON.stringify({ results: [], captures: 1, settled: true })}\n${screen}`,
    node: JSON.stringify({
      class_name: null,
      id: null,
      text: null,
      description: null,
      hint: null,
      package_name: 'android',
      bounds: { left: 0, top: 0, right: width, bottom: height },
      is: [],
      children: 0,
      selectors: [],
    }),
    health: JSON.stringify({ facts: null, last_repair: null, events: [] }),
    live: `${JSON.stringify({ captured_at, width, height, hash: 'dark' })}\nJPEG-bytes`,
    video: JSON.stringify({ reason: 'no scrcpy server on the host' }),
    wall: `${JSON.stringify({ captured_at, width, height, hash: 'dark' })}\nJPEG-bytes`,
    input: '',
    lease: '',
    clipboard: JSON.stringify({ text: '' }),
    file: JSON.stringify({ state: 'stored', path: '/sdcard/Download/notes.txt', in_media_store: true }),
    apps: '[]',
    replay: '{"verdicts":[]}',
    pairing: JSON.stringify({ id: 'phalanx-1', state: 'waiting', reason: 'Waiting.', serial: null }),
  };
  return `${JSON.stringify({ type, request_id })}\n${answers[type]}`;
}
