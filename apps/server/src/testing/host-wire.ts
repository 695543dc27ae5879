import {
  hostConnectPath,
  hostProtocolVersion,
  type DeviceReport,
  type RunReport,
  ServerMessage,
  type WireLogEntry,
} from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import { WebSocket } from 'ws';

const serverMessage = Compile(ServerMessage);
/** Maximum length that the error shows of a message that breaks the protocol. */
const shownLength = 1000;

export const deviceReport = (serial: string, more: Partial<DeviceReport> = {}): DeviceReport => ({
  serial,
  state: 'ready',
  reason: 'Ready',
  since: 1,
  brand: 'Google',
  model: 'Pixel 9',
  android_version: '16',
  sdk_version: 36,
  screen_width: 1080,
  screen_height: 2424,
  ...more,
});

/** A run whose code the host has, and which has not begun. */
export const loadedRun = (runId: string): RunReport => ({
  run_id: runId,
  status: 'starting',
  is_loaded: true,
  error: null,
  started_at: null,
  ended_at: null,
});

interface HelloFields {
  hostId: string;
  name: string;
  devices: readonly DeviceReport[];
  runs: readonly RunReport[];
}

interface HostWireOptions {
  url: string;
  token: string;
  onMessage: (message: ServerMessage) => void;
  /** Default: without a limit. */
  handshakeTimeoutMs?: number;
}

/** One connection of a simulated host: it checks each message of the server, and sends those of a host. */
export class HostWire {
  /** Rejects when the server refuses the connection. */
  readonly opened: Promise<void>;
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly #socket: WebSocket;

  constructor({ url, token, onMessage, handshakeTimeoutMs }: HostWireOptions) {
    const socket = new WebSocket(new URL(hostConnectPath, url), {
      perMessageDeflate: false,
      headers: token === '' ? {} : { authorization: `Bearer ${token}` },
      ...(handshakeTimeoutMs !== undefined && { handshakeTimeout: handshakeTimeoutMs }),
    });
    this.#socket = socket;
    this.opened = new Promise((resolve, reject) => {
      socket.on('open', resolve);
      socket.on('error', reject);
    });
    // A caller may wait for the end alone.
    this.opened.catch(() => undefined);
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    socket.on('message', (data) => {
      if (Buffer.isBuffer(data)) onMessage(parseServerMessage(data));
    });
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  hello({ hostId, name, devices, runs }: HelloFields, more: Record<string, unknown> = {}): void {
    const host = { host_id: hostId, host_name: name, devices, runs };
    this.send({ type: 'hello', protocol_version: hostProtocolVersion, ...host, ...more });
  }

  heartbeat(ready: readonly string[], sentAt = Date.now()): void {
    this.send({ type: 'heartbeat', sent_at: sentAt, ready });
  }

  send(message: unknown): void {
    this.sendRaw(JSON.stringify(message));
  }

  /** A binary frame: a line of JSON, and bytes. */
  sendFrame(header: object, payload: string | Buffer = ''): void {
    this.sendRaw(Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), Buffer.from(payload)]));
  }

  /** Does nothing on a connection that is not open. */
  sendRaw(data: string | Buffer): void {
    if (this.isOpen) this.#socket.send(data);
  }

  pause(): void {
    this.#socket.pause();
  }

  /** Ends the connection as a broken cable would. */
  cut(): void {
    this.#socket.terminate();
  }
}

function parseServerMessage(data: Buffer): ServerMessage {
  const text = data.toString('utf8');
  const message: unknown = JSON.parse(text);
  if (!serverMessage.Check(message))
    throw new Error(`not a message of the protocol: ${text.slice(0, shownLength)}`);
  return message;
}

/** The log entries of a run that the server has not acknowledged. */
export class LogBuffer {
  readonly entries: WireLogEntry[] = [];
  /** The number of the first entry. */
  firstSeq = 1;

  acknowledge(seq: number): void {
    if (seq < this.firstSeq) return;
    this.entries.splice(0, seq + 1 - this.firstSeq);
    this.firstSeq = seq + 1;
  }
}

export const logsHeader = (
  runId: string,
  firstSeq: number,
): { type: 'logs'; run_id: string; first_seq: number } => ({
  type: 'logs',
  run_id: runId,
  first_seq: firstSeq,
});
