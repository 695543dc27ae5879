import { createServer, type IncomingMessage, type Server } from 'node:http';
import {
  hostConnectPath,
  type HostMessage,
  isEnded,
  maxFrameBytes,
  type RecordReport,
  type RunReport,
  type ServerMessage,
  type WireLogEntry,
  wireStepLevel,
  type WireStep,
} from '@phalanx/protocol';
import { type WebSocket, WebSocketServer } from 'ws';
import { type Arrival, readFrame, type Received } from './read-frame.ts';
import { untilLimitMs, waitedFor } from './until.ts';
import { TestRecords } from './test-records.ts';

/** Minimal service: it speaks the protocol, validates every frame, and stores as the real one does. */
export class TestService {
  readonly token = 'phx_test';
  readonly arrivals: Arrival[] = [];
  /** Called synchronously with each arrival. */
  onArrival: (arrival: Arrival) => void = () => {};
  /** Violations of the protocol. Every test expects none at its end. */
  readonly violations: string[] = [];
  readonly logs = new Map<string, WireLogEntry[]>();
  readonly runs = new Map<string, RunReport>();
  readonly records = new TestRecords();
  readonly headers: IncomingMessage['headers'][] = [];
  connections = 0;
  /** Offset of the service's clock, in milliseconds. */
  clockOffsetMs = 0;
  /**
   * Heartbeat interval in milliseconds, long enough for a busy machine: the host disconnects after two unanswered
   * heartbeats.
   */
  heartbeatMs = 2000;
  /** Status with which every upgrade is refused; undefined accepts them. */
  refuseStatus: number | undefined;
  answersHeartbeats = true;
  sendsWelcome = true;
  acknowledgesLogs = true;
  acknowledgesRuns = true;
  /** Whether loaded runs may begin. */
  permitsRuns = true;
  acknowledgesRecords = true;
  readonly #http: Server;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxFrameBytes,
    perMessageDeflate: false,
  });
  readonly #watchers = new Set<() => void>();
  #hello: Extract<HostMessage, { type: 'hello' }> | undefined;
  #current: WebSocket | undefined;
  #port = 0;

  constructor() {
    this.#http = createServer((request, response) => {
      void this.records.take(request, response, this.token).then((arrival) => {
        this.#arrive(arrival);
        this.#changed();
      });
    });
    this.#http.on('upgrade', (request, socket, head) => {
      socket.on('error', () => {});
      this.headers.push(request.headers);
      const isWelcome =
        request.url === hostConnectPath && request.headers.authorization === `Bearer ${this.token}`;
      const status = this.refuseStatus ?? (isWelcome ? undefined : 401);
      if (status === undefined) {
        this.#sockets.handleUpgrade(request, socket, head, (opened) => this.#accept(opened));
        return;
      }
      const body = JSON.stringify({
        success: false,
        message: 'The token was revoked.',
        code: 'unauthorized',
      });
      socket.end(
        `HTTP/1.1 ${status} No\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
      );
      this.#changed();
    });
  }

  /** Listens on the first port again after `goAway`. */
  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#http.listen(this.#port, '127.0.0.1', resolve));
    const address = this.#http.address();
    if (typeof address === 'object' && address !== null) this.#port = address.port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  now(): number {
    return Date.now() + this.clockOffsetMs;
  }

  /** Terminates every connection without a close frame. */
  cut(): void {
    for (const socket of this.#sockets.clients) socket.terminate();
  }

  /** Terminates every connection and accepts no new one until `listen`. */
  async goAway(): Promise<void> {
    const closed = new Promise((resolve) => this.#http.close(resolve));
    this.cut();
    this.#http.closeAllConnections();
    await closed;
  }

  async close(): Promise<void> {
    if (this.#http.listening) await this.goAway();
    this.#sockets.close();
  }

  send(message: ServerMessage): void {
    this.sendText(JSON.stringify(message));
  }

  sendText(text: string): void {
    this.#current?.send(text);
  }

  closeWith(code: number): void {
    this.#current?.close(code, 'test');
  }

  /** Acknowledges everything stored, for tests that delayed acknowledgements. */
  acknowledgeAll(): void {
    for (const [run_id, entries] of this.logs)
      this.send({ type: 'logs_stored', run_id, seq: entries.length });
    const ended = [...this.runs.values()].filter(({ status }) => isEnded(status)).map(({ run_id }) => run_id);
    this.send({ type: 'runs_stored', run_ids: ended });
  }

  /** Permits runs, as the service does once it has stored that they run. */
  permit(runIds: readonly string[]): void {
    const startedAt = this.now();
    for (const runId of runIds) {
      const report = this.runs.get(runId);
      if (report !== undefined) this.runs.set(runId, { ...report, status: 'running', started_at: startedAt });
    }
    this.send({ type: 'begin', runs: runIds.map((run_id) => ({ run_id, started_at: startedAt })) });
  }

  /** Resolves when `condition` holds. Checks it after each arrival. */
  async until(condition: () => boolean): Promise<void> {
    const story = (): Error => {
      const telling = this.arrivals.filter(({ kind }) => kind !== 'heartbeat');
      return new Error(waitedFor(String(condition), telling.slice(-10)));
    };
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(story()), untilLimitMs);
      const watcher = (): void => {
        if (!condition()) return;
        this.#watchers.delete(watcher);
        clearTimeout(timer);
        resolve();
      };
      this.#watchers.add(watcher);
      watcher();
    });
  }

  messages(runId: string): string[] {
    const lines = (this.logs.get(runId) ?? []).filter(([, level]) => level !== wireStepLevel);
    return lines.map(([, , , message]) => message);
  }

  /** Returns the steps of a run, with their places in the source. */
  steps(runId: string): (WireStep & { line: number; path: string | undefined })[] {
    const entries = (this.logs.get(runId) ?? []).filter(([, level]) => level === wireStepLevel);
    return entries.map(([, , line, json, path]) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this host has written the JSON
      const step = JSON.parse(json) as WireStep;
      return { ...step, line, path };
    });
  }

  reportsOf(runId: string): RunReport[] {
    return this.arrivals.flatMap((arrival) => {
      if (arrival.kind === 'run' && arrival.report.run_id === runId) return [arrival.report];
      return arrival.kind === 'hello' ? arrival.runs.filter(({ run_id }) => run_id === runId) : [];
    });
  }

  /** Resolves with a run's record of this type when all its wanted captures have arrived. */
  async untilRecorded(runId: string, type: RecordReport['type']): Promise<RecordReport> {
    await this.until(() => this.records.whole(runId, type) !== undefined);
    return this.records.whole(runId, type) ?? raise(`no ${type} record of ${runId}`);
  }

  /** Resolves when a connection after number `after` has reported the phone as ready. */
  async untilReady(serial: string, after = 0): Promise<void> {
    const tells = (arrival: Arrival): boolean =>
      (arrival.kind === 'hello' || arrival.kind === 'devices') &&
      arrival.connection > after &&
      arrival.devices.some((device) => device.serial === serial && device.state === 'ready');
    await this.until(() => this.arrivals.some(tells));
  }

  /** Resolves when connection number `connection` has sent a heartbeat. */
  async untilHeartbeat(connection: number): Promise<void> {
    await this.until(() => this.arrivals.some((a) => a.kind === 'heartbeat' && a.connection === connection));
  }

  async untilEnded(runId: string): Promise<RunReport> {
    await this.until(() => isEnded(this.runs.get(runId)?.status ?? 'starting'));
    return this.runs.get(runId) ?? raise(`no report of ${runId}`);
  }

  #accept(socket: WebSocket): void {
    const connection = (this.connections += 1);
    this.#current = socket;
    socket.on('error', () => {});
    socket.on('close', () => this.#changed());
    socket.on('message', (data, isBinary) => {
      // The real service also listens only to the newest connection of a host.
      if (this.#current !== socket) return;
      this.#take(readFrame(data, isBinary), connection);
      this.#changed();
    });
  }

  #take(received: Received, connection: number): void {
    if (received.kind === 'message') this.#takeMessage(received.message, connection);
    else if (received.kind === 'logs') this.#takeLogs(received);
    else if (received.kind === 'violation') this.violations.push(received.text);
    else this.#arrive(received);
  }

  #takeMessage(message: HostMessage, connection: number): void {
    if (message.type === 'hello' || message.type === 'hello_more') this.#takePage(message, connection);
    else if (message.type === 'devices')
      this.#arrive({ kind: 'devices', connection, devices: message.devices });
    else if (message.type === 'heartbeat') this.#takeHeartbeat(message, connection);
    else if (message.type === 'runs') this.#takeRuns(message.runs, true);
    else if (message.type === 'record') this.#takeRecord(message.record);
    else if (message.type === 'request_failed') {
      const { request_id: requestId, message: text } = message;
      this.#arrive({ kind: 'request_failed', requestId, message: text });
    }
  }

  #takePage(page: Extract<HostMessage, { type: 'hello' | 'hello_more' }>, connection: number): void {
    const before = page.type === 'hello' ? undefined : this.#hello;
    if (page.type === 'hello') this.#hello = page;
    before?.devices.push(...page.devices);
    before?.runs.push(...page.runs);
    if (page.more !== true && this.#hello !== undefined) this.#takeHello(this.#hello, connection);
  }

  #takeHello(message: Extract<HostMessage, { type: 'hello' }>, connection: number): void {
    const { runs, devices, host_id: hostId } = message;
    this.#arrive({ kind: 'hello', connection, runs, devices, hostId });
    if (!this.sendsWelcome) return;
    this.send({ type: 'welcome', server_time: this.now(), heartbeat_ms: this.heartbeatMs });
    this.#takeRuns(runs, false);
  }

  #takeHeartbeat(message: Extract<HostMessage, { type: 'heartbeat' }>, connection: number): void {
    this.#arrive({ kind: 'heartbeat', connection, ready: message.ready });
    if (!this.answersHeartbeats) return;
    this.send({ type: 'heartbeat', sent_at: message.sent_at, server_time: this.now() });
  }

  #takeRuns(reports: readonly RunReport[], isNews: boolean): void {
    for (const report of reports) {
      if (isNews) this.#arrive({ kind: 'run', report });
      this.runs.set(report.run_id, report);
    }
    const loaded = reports.filter(({ is_loaded }) => is_loaded === true).map(({ run_id }) => run_id);
    if (loaded.length > 0 && this.permitsRuns) this.permit(loaded);
    const ended = reports.filter(({ status }) => isEnded(status)).map(({ run_id }) => run_id);
    if (ended.length > 0 && this.acknowledgesRuns) this.send({ type: 'runs_stored', run_ids: ended });
  }

  #takeRecord(record: RecordReport): void {
    const missing = this.records.add(record);
    this.#arrive({ kind: 'record', record });
    if (this.acknowledgesRecords)
      this.send({ type: 'record_stored', record_id: record.record_id, missing: [...missing] });
  }

  #takeLogs({ runId, firstSeq, entries }: Extract<Received, { kind: 'logs' }>): void {
    const stored = this.logs.get(runId) ?? [];
    this.logs.set(runId, stored);
    if (firstSeq > stored.length + 1) this.violations.push(`a gap before ${firstSeq} of ${runId}`);
    entries.forEach((entry, index) => {
      if (firstSeq + index === stored.length + 1) stored.push(entry);
    });
    this.#arrive({ kind: 'logs', runId, firstSeq, count: entries.length, storedSeq: stored.length });
    if (this.acknowledgesLogs) this.send({ type: 'logs_stored', run_id: runId, seq: stored.length });
  }

  #arrive(arrival: Arrival): void {
    this.arrivals.push(arrival);
    this.onArrival(arrival);
  }

  #changed(): void {
    for (const watcher of this.#watchers) watcher();
  }
}

export async function startTestService(): Promise<TestService> {
  const service = new TestService();
  await service.listen();
  return service;
}

function raise(message: string): never {
  throw new Error(message);
}
