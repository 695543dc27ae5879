import { randomUUID } from 'node:crypto';
import type { RecordReport, RunReport, ServerMessage } from '@phalanx/protocol';

import { deviceReport, HostWire, loadedRun } from '../../apps/server/src/testing/host-wire.ts';

export interface HostPlan {
  url: string;
  token: string;
  name: string;
  serials: readonly string[];
  /** ID of the host. Default: a new one. */
  hostId?: string;
}

export type Launch = Extract<ServerMessage, { type: 'launch' }>;
type MissingCaptures = Extract<ServerMessage, { type: 'record_stored' }>['missing'];

/** Heartbeat interval in ms that the server requests: after twice this time, phones count as unresponsive. */
export const heartbeatMs = 2000;

/**
 * Simulates the protocol of a host: its devices are always ready, and each launch is acknowledged at once with one
 * message per run.
 */
export class SimulatedHost {
  onLogsStored: (runId: string, seq: number) => void = () => undefined;
  onLaunch: (launch: Launch) => void = () => undefined;
  /** Called when the server lets the first lines of these runs execute. */
  onBegin: (runIds: string[]) => void = () => undefined;
  onScreenWanted: (requestId: string) => void = () => undefined;
  onActWanted: (requestId: string) => void = () => undefined;
  /** Called when the server closes the connection. */
  onClosed = (reason: string): void => console.error(reason);
  readonly #wire: HostWire;
  readonly #serials: readonly string[];
  readonly #running = new Map<string, RunReport>();
  readonly #onRecordStored = new Map<string, (missing: MissingCaptures) => void>();
  #isCut = false;
  #onHeartbeat: () => void = () => undefined;
  #onForgotten: () => void = () => undefined;

  private constructor({ url, token, serials }: HostPlan) {
    this.#serials = serials;
    this.#wire = new HostWire({ url, token, onMessage: (message) => this.#take(message) });
  }

  /** Connects a host. Resolves when the server knows its devices. */
  static async connect(plan: HostPlan): Promise<SimulatedHost> {
    const { name, serials, hostId = randomUUID() } = plan;
    const host = new SimulatedHost(plan);
    await host.#wire.opened;
    void host.#wire.closed.then(({ code, reason }) => {
      if (!host.#isCut) host.onClosed(`${name}: closed with ${code} ${reason}`);
    });
    const since = Date.now();
    host.#wire.hello({
      hostId,
      name,
      devices: serials.map((serial) => deviceReport(serial, { since })),
      runs: [],
    });
    // Messages are handled in order, so the reply to this one confirms the devices.
    await host.beat();
    return host;
  }

  get runIds(): string[] {
    return [...this.#running.keys()];
  }

  /** Drops the connection like a failing network. */
  cut(): void {
    this.#isCut = true;
    this.#wire.cut();
  }

  /** Confirms all devices. Resolves with the server's reply. */
  beat(): Promise<void> {
    this.#wire.heartbeat(this.#serials);
    return new Promise((resolve) => {
      this.#onHeartbeat = resolve;
    });
  }

  /** Ends all runs. Resolves when the server has stored it. */
  endRuns(): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve();
    this.endSome(this.runIds);
    return new Promise((resolve) => {
      this.#onForgotten = resolve;
    });
  }

  endSome(runIds: readonly string[]): void {
    const ended = { is_loaded: false, status: 'completed' as const, ended_at: Date.now() };
    const runs = runIds.flatMap((runId) => this.#running.get(runId) ?? []);
    this.#wire.send({ type: 'runs', runs: runs.map((run) => ({ ...run, ...ended })) });
  }

  /** Reports a record. Resolves with the captures that the server requests. */
  describeRecord(record: RecordReport): Promise<MissingCaptures> {
    this.#wire.send({ type: 'record', record });
    return new Promise((resolve) => this.#onRecordStored.set(record.record_id, resolve));
  }

  /** Sends a binary frame. */
  sendFrame(header: object, payload: Buffer): void {
    this.#wire.sendFrame(header, payload);
  }

  #take(message: ServerMessage): void {
    if (message.type === 'launch') {
      this.onLaunch(message);
      this.#acknowledge(message);
    }
    if (message.type === 'begin') this.onBegin(message.runs.map(({ run_id: runId }) => runId));
    if (message.type === 'logs_stored') this.onLogsStored(message.run_id, message.seq);
    if (message.type === 'record_stored') {
      this.#onRecordStored.get(message.record_id)?.(message.missing);
      this.#onRecordStored.delete(message.record_id);
    }
    if (message.type === 'screen') this.onScreenWanted(message.request_id);
    if (message.type === 'act') this.onActWanted(message.request_id);
    if (message.type === 'heartbeat') this.#onHeartbeat();
    if (message.type === 'runs_stored') this.#forget(message.run_ids);
  }

  #acknowledge({ runs }: Launch): void {
    for (const { run_id } of runs) {
      const run = loadedRun(run_id);
      this.#running.set(run_id, run);
      this.#wire.send({ type: 'runs', runs: [run] });
    }
  }

  #forget(runIds: readonly string[]): void {
    for (const runId of runIds) this.#running.delete(runId);
    if (this.#running.size === 0) this.#onForgotten();
  }
}
