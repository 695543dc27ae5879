import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  hostConnectPath,
  hostProtocolVersion,
  isEnded,
  type RecordReport,
  type RunReport,
  ServerMessage,
  type WireLogEntry,
} from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import { WebSocket } from 'ws';

import { recordReport } from '../../apps/server/src/testing/record-reports.ts';
import { deviceReport } from '../../apps/server/src/testing/test-host.ts';
import type { SeededRandom } from '../support/seeded-random.ts';

const validator = Compile(ServerMessage);
const heartbeatMs = 500;
/** Two heartbeats of the server. */
const defaultSilenceMs = 4000;
const handshakeMs = 2000;
const logEveryMs = 100;

export interface SimulatedRun {
  report: RunReport;
  deviceId: string;
  /** When it ends by itself, epoch ms. */
  endsAt: number;
  /** How many lines it has logged. */
  logged: number;
  /** What the server has not acknowledged; the first one has the number `firstSeq`. */
  unstored: WireLogEntry[];
  firstSeq: number;
}

interface Options {
  /** Where servers are; one is taken by chance at each connection. */
  urls: readonly string[];
  token: string;
  serials: readonly string[];
  random: SeededRandom;
  /** A server that has said nothing for so long is taken for dead. */
  silenceMs?: number;
}

/**
 * A host as the servers see one: its runs outlive its connections, it says again what was not acknowledged, and
 * begins each run that it is sent. It notes what must not happen.
 */
export class SimulatedHost {
  readonly id = randomUUID();
  readonly violations: string[] = [];
  /** Every run that it has begun, for good. */
  readonly begun = new Map<string, SimulatedRun>();
  /** Whether each record that it has told of is stored, by its ID. */
  readonly records = new Map<string, boolean>();
  readonly #options: Options;
  readonly #held = new Map<string, SimulatedRun>();
  /** Every run that it was sent. */
  readonly #loaded = new Set<string>();
  /** Those that are not stored yet. */
  readonly #records = new Map<string, RecordReport>();
  readonly #living: Promise<void>;
  readonly #logging: NodeJS.Timeout;
  #socket: WebSocket | undefined;
  #isWelcome = false;
  #isEnding = false;
  #heardAt = 0;

  constructor(options: Options) {
    this.#options = options;
    this.#living = this.#live();
    this.#logging = setInterval(() => this.#goOn(), logEveryMs);
  }

  /** No more lines, and all runs end. */
  finish(): void {
    clearInterval(this.#logging);
    for (const run of this.#held.values()) {
      const { status } = run.report;
      if (!isEnded(status)) this.#end(run, status === 'starting' ? 'stopped' : 'completed');
    }
  }

  get isQuiet(): boolean {
    const isAllLogged = [...this.begun.values()].every(({ unstored }) => unstored.length === 0);
    return this.#held.size === 0 && this.#records.size === 0 && isAllLogged;
  }

  async stop(): Promise<void> {
    this.#isEnding = true;
    clearInterval(this.#logging);
    this.#socket?.terminate();
    await this.#living;
  }

  async #live(): Promise<void> {
    const { urls, random } = this.#options;
    while (!this.#isEnding) {
      await this.#connectTo(random.pick(urls));
      await pause(50 + random.below(250));
    }
  }

  /** Resolves when the connection has ended. */
  async #connectTo(url: string): Promise<void> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}${hostConnectPath}`, {
      headers: { authorization: `Bearer ${this.#options.token}` },
      handshakeTimeout: handshakeMs,
    });
    this.#socket = socket;
    this.#isWelcome = false;
    this.#heardAt = performance.now();
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
    socket.on('error', () => undefined);
    socket.on('close', () => end());
    socket.on('open', () => this.#sayHello());
    socket.on('message', (data) => {
      if (this.#socket === socket && Buffer.isBuffer(data)) this.#take(data);
    });
    const heart = setInterval(() => this.#beat(socket), heartbeatMs);
    await isOver;
    clearInterval(heart);
    this.#isWelcome = false;
  }

  #beat(socket: WebSocket): void {
    const { silenceMs = defaultSilenceMs } = this.#options;
    if (performance.now() - this.#heardAt > silenceMs) return socket.terminate();
    if (this.#isWelcome)
      this.#send({ type: 'heartbeat', sent_at: Date.now(), ready: [...this.#options.serials] });
  }

  #sayHello(): void {
    this.#send({
      type: 'hello',
      protocol_version: hostProtocolVersion,
      host_id: this.id,
      host_name: `host ${this.id.slice(0, 4)}`,
      devices: this.#options.serials.map((serial) => deviceReport(serial)),
      runs: [...this.#held.values()].map(({ report }) => report),
    });
  }

  #take(data: Buffer): void {
    this.#heardAt = performance.now();
    const message: unknown = JSON.parse(data.toString());
    if (!validator.Check(message)) throw new Error(`not a message of the protocol: ${data.toString()}`);
    if (message.type === 'welcome') {
      this.#isWelcome = true;
      for (const runId of this.begun.keys()) this.#sendLogs(runId);
      for (const record of this.#records.values()) this.#send({ type: 'record', record });
    }
    if (message.type === 'launch') for (const run of message.runs) this.#load(run.run_id, run.device_id);
    if (message.type === 'begin') for (const run of message.runs) this.#begin(run.run_id, run.started_at);
    if (message.type === 'input') this.#answer('input', message.request_id);
    if (message.type === 'stop') for (const runId of message.run_ids) this.#stop(runId);
    if (message.type === 'runs_stored') for (const runId of message.run_ids) this.#held.delete(runId);
    if (message.type === 'record_stored') this.#forgetRecord(message.record_id);
    if (message.type === 'logs_stored') this.#forget(message.run_id, message.seq);
  }

  /** What is sent again after a break is held already. */
  #load(runId: string, deviceId: string): void {
    if (this.#loaded.has(runId)) return;
    const report = {
      ...{ run_id: runId, status: 'starting' as const, is_loaded: true, error: null },
      ...{ started_at: null, ended_at: null },
    };
    const run = { report, deviceId, endsAt: Infinity, logged: 0, unstored: [], firstSeq: 1 };
    this.#loaded.add(runId);
    this.#held.set(runId, run);
    this.#send({ type: 'runs', runs: [report] });
  }

  #begin(runId: string, startedAt: number): void {
    const run = this.#held.get(runId);
    if (run?.report.status !== 'starting') return;
    const { run_id, error } = run.report;
    run.report = { run_id, status: 'running', error, started_at: startedAt, ended_at: null };
    run.endsAt = Date.now() + 500 + this.#options.random.below(4000);
    this.begun.set(runId, run);
  }

  #stop(runId: string): void {
    const run = this.#held.get(runId);
    // A launch that comes later is of a run that has ended.
    this.#loaded.add(runId);
    if (run !== undefined && !isEnded(run.report.status)) return this.#end(run, 'stopped');
    const ended = { run_id: runId, status: 'stopped', error: null, started_at: null, ended_at: Date.now() };
    this.#send({ type: 'runs', runs: [run?.report ?? ended] });
  }

  #forgetRecord(recordId: string): void {
    if (this.#records.delete(recordId)) this.records.set(recordId, true);
  }

  /** Some have met an unknown screen. */
  #tellOfRecord(runId: string): void {
    if (this.#options.random.below(4) > 0) return;
    const record = recordReport(runId);
    this.records.set(record.record_id, false);
    this.#records.set(record.record_id, record);
    if (this.#isWelcome) this.#send({ type: 'record', record });
  }

  #end(run: SimulatedRun, status: 'completed' | 'stopped'): void {
    run.report = { ...run.report, status, ended_at: Date.now() };
    this.#send({ type: 'runs', runs: [run.report] });
    this.#tellOfRecord(run.report.run_id);
  }

  /** Each run logs a line, or ends when its time has come. */
  #goOn(): void {
    for (const [runId, run] of this.#held) {
      if (run.report.status !== 'running') continue;
      run.logged += 1;
      run.unstored.push([Date.now(), 0, 1, String(run.logged)]);
      this.#sendLogs(runId);
      if (Date.now() > run.endsAt) this.#end(run, 'completed');
    }
  }

  #sendLogs(runId: string): void {
    const run = this.begun.get(runId);
    if (run === undefined || run.unstored.length === 0 || !this.#isWelcome) return;
    const header = JSON.stringify({ type: 'logs', run_id: runId, first_seq: run.firstSeq });
    if (this.#socket?.readyState === WebSocket.OPEN)
      this.#socket.send(Buffer.from(`${header}\n${JSON.stringify(run.unstored)}`));
  }

  #forget(runId: string, seq: number): void {
    const run = this.begun.get(runId);
    if (run === undefined || seq < run.firstSeq) return;
    run.unstored.splice(0, seq + 1 - run.firstSeq);
    run.firstSeq = seq + 1;
  }

  /** It is done at once. */
  #answer(type: string, requestId: string): void {
    if (this.#socket?.readyState === WebSocket.OPEN)
      this.#socket.send(Buffer.from(`${JSON.stringify({ type, request_id: requestId })}\n`));
  }

  #send(message: unknown): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }
}
