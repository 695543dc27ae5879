import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isEnded, type RecordReport, type RunReport, type ServerMessage } from '@phalanx/protocol';

import {
  deviceReport,
  HostWire,
  loadedRun,
  LogBuffer,
  logsHeader,
} from '../../apps/server/src/testing/host-wire.ts';
import { recordReport } from '../../apps/server/src/testing/records/record-reports.ts';
import type { SeededRandom } from '../support/seeded-random.ts';

const heartbeatMs = 500;
/** Two heartbeats of the server, in ms. */
const defaultSilenceMs = 4000;
const handshakeMs = 2000;
const logEveryMs = 100;

export interface SimulatedRun {
  report: RunReport;
  deviceId: string;
  /** Time at which the run ends by itself, in epoch ms. */
  endsAt: number;
  /** Number of logged lines. */
  logged: number;
  readonly buffer: LogBuffer;
}

interface Options {
  /** Addresses of servers; each connection chooses a random one. */
  urls: readonly string[];
  token: string;
  serials: readonly string[];
  random: SeededRandom;
  /** Time in ms after which a silent server counts as dead. */
  silenceMs?: number;
}

/**
 * Host as the servers see it: its runs outlive its connections, it resends unacknowledged messages, and it begins
 * each run that it receives. It records violations.
 */
export class SimulatedHost {
  readonly id = randomUUID();
  readonly violations: string[] = [];
  /** All runs that it has ever begun. */
  readonly begun = new Map<string, SimulatedRun>();
  /** Whether each reported record is stored, by record ID. */
  readonly records = new Map<string, boolean>();
  readonly #options: Options;
  readonly #held = new Map<string, SimulatedRun>();
  /** All runs that it has received. */
  readonly #loaded = new Set<string>();
  /** Records that are not stored yet. */
  readonly #records = new Map<string, RecordReport>();
  readonly #living: Promise<void>;
  readonly #logging: NodeJS.Timeout;
  #wire: HostWire | undefined;
  #isWelcome = false;
  #isEnding = false;
  #heardAt = 0;

  constructor(options: Options) {
    this.#options = options;
    this.#living = this.#live();
    this.#logging = setInterval(() => this.#goOn(), logEveryMs);
  }

  /** Stops logging and ends all runs. */
  finish(): void {
    clearInterval(this.#logging);
    for (const run of this.#held.values()) {
      const { status } = run.report;
      if (!isEnded(status)) this.#end(run, status === 'starting' ? 'stopped' : 'completed');
    }
  }

  get isQuiet(): boolean {
    const isAllLogged = [...this.begun.values()].every(({ buffer }) => buffer.entries.length === 0);
    return this.#held.size === 0 && this.#records.size === 0 && isAllLogged;
  }

  async stop(): Promise<void> {
    this.#isEnding = true;
    clearInterval(this.#logging);
    this.#wire?.cut();
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
    const wire = new HostWire({
      url,
      token: this.#options.token,
      handshakeTimeoutMs: handshakeMs,
      onMessage: (message) => {
        if (this.#wire === wire) this.#take(message);
      },
    });
    this.#wire = wire;
    this.#isWelcome = false;
    this.#heardAt = performance.now();
    wire.opened.then(
      () => this.#sayHello(),
      () => undefined,
    );
    const heart = setInterval(() => this.#beat(wire), heartbeatMs);
    await wire.closed;
    clearInterval(heart);
    this.#isWelcome = false;
  }

  #beat(wire: HostWire): void {
    const { silenceMs = defaultSilenceMs, serials } = this.#options;
    if (performance.now() - this.#heardAt > silenceMs) return wire.cut();
    if (this.#isWelcome) wire.heartbeat(serials);
  }

  #sayHello(): void {
    this.#wire?.hello({
      hostId: this.id,
      name: `host ${this.id.slice(0, 4)}`,
      devices: this.#options.serials.map((serial) => deviceReport(serial)),
      runs: [...this.#held.values()].map(({ report }) => report),
    });
  }

  #take(message: ServerMessage): void {
    this.#heardAt = performance.now();
    if (message.type === 'welcome') {
      this.#isWelcome = true;
      for (const runId of this.begun.keys()) this.#sendLogs(runId);
      for (const record of this.#records.values()) this.#send({ type: 'record', record });
    }
    if (message.type === 'launch') for (const run of message.runs) this.#load(run.run_id, run.device_id);
    if (message.type === 'begin') for (const run of message.runs) this.#begin(run.run_id, run.started_at);
    if (message.type === 'input') this.#wire?.sendFrame({ type: 'input', request_id: message.request_id });
    if (message.type === 'stop') for (const runId of message.run_ids) this.#stop(runId);
    if (message.type === 'runs_stored') for (const runId of message.run_ids) this.#held.delete(runId);
    if (message.type === 'record_stored') this.#forgetRecord(message.record_id);
    if (message.type === 'logs_stored') this.begun.get(message.run_id)?.buffer.acknowledge(message.seq);
  }

  /** Loads a run. Ignores a known one, because the server resends it after an interruption. */
  #load(runId: string, deviceId: string): void {
    if (this.#loaded.has(runId)) return;
    const report = loadedRun(runId);
    const run = { report, deviceId, endsAt: Infinity, logged: 0, buffer: new LogBuffer() };
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
    // A launch that arrives later belongs to an ended run.
    this.#loaded.add(runId);
    if (run !== undefined && !isEnded(run.report.status)) return this.#end(run, 'stopped');
    const ended = { run_id: runId, status: 'stopped', error: null, started_at: null, ended_at: Date.now() };
    this.#send({ type: 'runs', runs: [run?.report ?? ended] });
  }

  #forgetRecord(recordId: string): void {
    if (this.#records.delete(recordId)) this.records.set(recordId, true);
  }

  /** Reports a record for some of the runs, as if they had met an unknown screen. */
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

  /** Makes each run log a line, or end at its time. */
  #goOn(): void {
    for (const [runId, run] of this.#held) {
      if (run.report.status !== 'running') continue;
      run.logged += 1;
      run.buffer.entries.push([Date.now(), 0, 1, String(run.logged)]);
      this.#sendLogs(runId);
      if (Date.now() > run.endsAt) this.#end(run, 'completed');
    }
  }

  #sendLogs(runId: string): void {
    const run = this.begun.get(runId);
    if (run === undefined || run.buffer.entries.length === 0 || !this.#isWelcome) return;
    this.#wire?.sendFrame(logsHeader(runId, run.buffer.firstSeq), JSON.stringify(run.buffer.entries));
  }

  #send(message: unknown): void {
    this.#wire?.send(message);
  }
}
