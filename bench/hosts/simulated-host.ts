import { randomUUID } from 'node:crypto';
import {
  hostConnectPath,
  hostProtocolVersion,
  ServerMessage,
  type DeviceReport,
  type HostMessage,
  type RecordReport,
  type RunReport,
} from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import { WebSocket, type RawData } from 'ws';

const serverMessage = Compile(ServerMessage);

export interface HostPlan {
  url: string;
  token: string;
  name: string;
  serials: readonly string[];
  /** Default: a new one. */
  hostId?: string;
}

export type Launch = Extract<ServerMessage, { type: 'launch' }>;
type MissingCaptures = Extract<ServerMessage, { type: 'record_stored' }>['missing'];

const report = (serial: string): DeviceReport => ({
  serial,
  state: 'ready',
  reason: 'Ready for automations',
  since: Date.now(),
  brand: 'Google',
  model: 'Pixel 8',
  android_version: '15',
  sdk_version: 35,
  screen_width: 1080,
  screen_height: 2400,
});

/**
 * The wire side of a host: devices that are always ready, launches that are acknowledged at once with a message for
 * each run, and nothing behind it.
 */
export class SimulatedHost {
  onLogsStored: (runId: string, seq: number) => void = () => undefined;
  onLaunch: (launch: Launch) => void = () => undefined;
  /** The first lines of these runs may run. */
  onBegin: (runIds: string[]) => void = () => undefined;
  onScreenWanted: (requestId: string) => void = () => undefined;
  /** By the server. */
  onClosed = (reason: string): void => console.error(reason);
  readonly #socket: WebSocket;
  readonly #serials: readonly string[];
  readonly #running = new Map<string, RunReport>();
  readonly #onRecordStored = new Map<string, (missing: MissingCaptures) => void>();
  #isCut = false;
  #onHeartbeat: () => void = () => undefined;
  #onForgotten: () => void = () => undefined;

  private constructor(socket: WebSocket, serials: readonly string[]) {
    this.#socket = socket;
    this.#serials = serials;
    socket.on('message', (data) => this.#read(data));
  }

  /** Resolves when the server has taken in the devices. */
  static async connect({
    url,
    token,
    name,
    serials,
    hostId = randomUUID(),
  }: HostPlan): Promise<SimulatedHost> {
    const socket = new WebSocket(new URL(hostConnectPath, url), {
      perMessageDeflate: false,
      headers: { authorization: `Bearer ${token}` },
    });
    await new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    socket.on('error', (error) => console.error(`${name}: ${error.message}`));
    const host = new SimulatedHost(socket, serials);
    socket.on('close', (code, reason) => {
      if (!host.#isCut) host.onClosed(`${name}: closed with ${code} ${reason.toString()}`);
    });
    const devices = serials.map(report);
    const hello = { host_id: hostId, host_name: name, devices, runs: [] };
    host.send({ type: 'hello', protocol_version: hostProtocolVersion, ...hello });
    // Messages are handled in order: with the answer to this one, the devices are known.
    await host.beat();
    return host;
  }

  get runIds(): string[] {
    return [...this.#running.keys()];
  }

  /** As when its network fails. */
  cut(): void {
    this.#isCut = true;
    this.#socket.terminate();
  }

  /** Confirms all devices. Resolves with the server's answer. */
  beat(): Promise<void> {
    this.send({ type: 'heartbeat', sent_at: Date.now(), ready: [...this.#serials] });
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
    this.send({ type: 'runs', runs: runs.map((run) => ({ ...run, ...ended })) });
  }

  /** Resolves with the captures that the server wants of it. */
  tellRecord(record: RecordReport): Promise<MissingCaptures> {
    this.send({ type: 'record', record });
    return new Promise((resolve) => this.#onRecordStored.set(record.record_id, resolve));
  }

  /** A binary frame. */
  sendFrame(header: string, payload: Buffer): void {
    this.#socket.send(Buffer.concat([Buffer.from(`${header}\n`), payload]));
  }

  send(message: HostMessage): void {
    this.#socket.send(JSON.stringify(message));
  }

  #read(data: RawData): void {
    const text = Buffer.isBuffer(data) ? data.toString('utf8') : '';
    const message: unknown = JSON.parse(text);
    if (!serverMessage.Check(message))
      throw new Error(`not a message of the protocol: ${text.slice(0, 200)}`);
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
    if (message.type === 'heartbeat') this.#onHeartbeat();
    if (message.type === 'runs_stored') this.#forget(message.run_ids);
  }

  #acknowledge({ runs }: Launch): void {
    for (const { run_id } of runs) {
      const run: RunReport = {
        run_id,
        status: 'starting',
        is_loaded: true,
        error: null,
        started_at: null,
        ended_at: null,
      };
      this.#running.set(run_id, run);
      this.send({ type: 'runs', runs: [run] });
    }
  }

  #forget(runIds: readonly string[]): void {
    for (const runId of runIds) this.#running.delete(runId);
    if (this.#running.size === 0) this.#onForgotten();
  }
}
