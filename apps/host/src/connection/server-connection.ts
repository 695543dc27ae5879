import {
  closeCodes,
  hostConnectPath,
  type HostFrameHeader,
  type HostMessage,
  type ServerMessage,
} from '@phalanx/protocol';
import type { Logger } from 'pino';
import { createBackoff } from '../time/backoff.ts';
import { pause } from '../time/time-limit.ts';
import type { Hello } from './pages.ts';
import { type ServerCommand, Session, type SessionEnd } from './session.ts';
import type { ServiceClock } from './service-clock.ts';

/** Callbacks into the rest of the host that the connection needs. */
export interface Peer {
  /** Returns the current state of the host: its devices and runs. */
  hello: () => Hello;
  /** Serials of the phones that answered after `sinceMs` (host's clock). */
  listReady: (sinceMs: number) => string[];
  /**
   * Reason why the host finds no phones. Undefined when it finds some or when none is connected. Default: undefined.
   */
  problem?: () => string | undefined;
  onCommand: (command: ServerCommand) => void;
}

export interface ServerConnectionOptions {
  serverUrl: URL;
  token: string;
  clock: ServiceClock;
  log: Logger;
  /** Pause after the server refused the connection, in milliseconds. Default 30 s. */
  refusedRetryMs?: number;
  /**
   * Time after which a connection counts as stable, in milliseconds; a later failure is reported as a new one. Default
   * 20 s.
   */
  stableMs?: number;
}

type Listener = () => void;

/**
 * Timeouts of a connection attempt. The first attempts are short: when a server hangs, a retry may reach another one.
 */
const answerTimeoutMs = { first: 2000, later: 10_000 };
const maxShortTries = 4;

/** Keeps one connection to the server open for the lifetime of the host. */
export class ServerConnection {
  readonly #options: ServerConnectionOptions;
  readonly #stopped = new AbortController();
  readonly #backoff = createBackoff({ firstMs: 100, maxMs: 2000 });
  /** Number of connection attempts since the last stable connection. */
  #tries = 0;
  readonly #onlineListeners = new Set<Listener>();
  readonly #offlineListeners = new Set<Listener>();
  #session: Session | undefined;
  #loop: Promise<void> = Promise.resolve();
  #stableTimer: NodeJS.Timeout | undefined;
  /** Last failure that was logged; undefined once the connection is stable. */
  #toldTrouble: string | undefined;

  constructor(options: ServerConnectionOptions) {
    this.#options = options;
  }

  /** Whether the server has sent `welcome` on the current connection. */
  get online(): boolean {
    return this.#session?.welcomed === true;
  }

  /** Number of bytes that wait for the network. */
  get bufferedBytes(): number {
    return this.#session?.bufferedBytes ?? 0;
  }

  start(peer: Peer): void {
    this.#loop = this.#connectForEver(peer);
  }

  onOnline(listener: Listener): void {
    this.#onlineListeners.add(listener);
  }

  onOffline(listener: Listener): void {
    this.#offlineListeners.add(listener);
  }

  /** Sends a message. Returns false without a connection; the next `hello` then has to report the state. */
  send(message: HostMessage): boolean {
    return this.online && this.#session?.send(message) === true;
  }

  /** Sends a frame like `send`. Calls `onSent` when the network has taken the frame, or when sending has failed. */
  sendFrame(header: HostFrameHeader, payload: Uint8Array, onSent?: () => void): boolean {
    return this.online && this.#session?.sendFrame(header, payload, onSent) === true;
  }

  /** Resolves when the connection has stood for `durationMs` without a break. Never resolves after `close`. */
  whenOnlineFor(durationMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const onOffline = (): void => clearTimeout(timer);
      const onOnline = (): void => {
        clearTimeout(timer);
        timer = setTimeout(() => {
          forget();
          resolve();
        }, durationMs);
      };
      const forget = (): void => {
        clearTimeout(timer);
        this.#onlineListeners.delete(onOnline);
        this.#offlineListeners.delete(onOffline);
        signal.removeEventListener('abort', forget);
      };
      if (signal.aborted) return;
      signal.addEventListener('abort', forget);
      this.#onlineListeners.add(onOnline);
      this.#offlineListeners.add(onOffline);
      if (this.online) onOnline();
    });
  }

  async close(): Promise<void> {
    this.#stopped.abort();
    this.#session?.close();
    await this.#loop;
  }

  async #connectForEver(peer: Peer): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      this.#tries += 1;
      this.#session = new Session(this.#sessionOptions(peer));
      const end = await this.#session.ended;
      this.#session = undefined;
      clearTimeout(this.#stableTimer);
      if (end.welcomed) for (const listener of this.#offlineListeners) listener();
      if (this.#stopped.signal.aborted) return;
      await pause(this.#waitMsAfter(end), this.#stopped.signal);
    }
  }

  #sessionOptions({ hello, listReady, problem, onCommand }: Peer): ConstructorParameters<typeof Session>[0] {
    const { token, clock } = this.#options;
    return {
      url: connectUrl(this.#options.serverUrl),
      token,
      clock,
      answerTimeoutMs: this.#tries <= maxShortTries ? answerTimeoutMs.first : answerTimeoutMs.later,
      hello,
      listReady,
      problem,
      onWelcome: () => this.#welcomed(),
      // The session itself handles `welcome` and `heartbeat`.
      onMessage: (message: ServerMessage) => {
        if (message.type !== 'welcome' && message.type !== 'heartbeat') onCommand(message);
      },
    };
  }

  #welcomed(): void {
    if (this.#toldTrouble === undefined) this.#tellConnected();
    this.#stableTimer = setTimeout(() => this.#standsFirm(), this.#options.stableMs ?? 20_000);
    for (const listener of this.#onlineListeners) listener();
  }

  #tellConnected(): void {
    this.#options.log.info({ server: this.#options.serverUrl.origin }, 'Connected to the server');
  }

  /**
   * Resets the backoff and the attempts. A server that accepts connections and drops them at once still counts as
   * failing.
   */
  #standsFirm(): void {
    this.#backoff.reset();
    this.#tries = 0;
    if (this.#toldTrouble === undefined) return;
    this.#toldTrouble = undefined;
    this.#tellConnected();
  }

  /** Logs a failure. A repetition of the same failure is logged at debug level only. */
  #tellTrouble(level: 'warn' | 'error', details: { reason: string; waitMs: number }, text: string): void {
    const trouble = `${text} ${details.reason}`;
    const { log, serverUrl } = this.#options;
    log[trouble === this.#toldTrouble ? 'debug' : level]({ server: serverUrl.origin, ...details }, text);
    this.#toldTrouble = trouble;
  }

  #waitMsAfter(end: SessionEnd): number {
    const { refusedRetryMs = 30_000 } = this.#options;
    const advice = adviceFor(end);
    if (advice !== undefined) {
      const text = `${advice} Trying again every ${refusedRetryMs / 1000} s.`;
      this.#tellTrouble('error', { reason: end.reason, waitMs: refusedRetryMs }, text);
      return refusedRetryMs;
    }
    const waitMs = this.#backoff.nextMs();
    const reason = end.reason || `closed with code ${end.code}`;
    const details = { reason, waitMs: Math.round(waitMs) };
    this.#tellTrouble('warn', details, 'No connection to the server; trying again');
    return waitMs;
  }
}

/** Returns what a person has to do before a retry makes sense; undefined when a retry may succeed by itself. */
function adviceFor({ kind, code, reason }: SessionEnd): string | undefined {
  if ((kind === 'refused' && code === 401) || (kind === 'closed' && code === closeCodes.unauthorized)) {
    return 'The server does not accept the token of this host: give a valid one in PHALANX_TOKEN.';
  }
  if (kind === 'refused' && code === 403) {
    return 'The server does not let this token connect a host: it needs the scope "host".';
  }
  if (kind === 'closed' && code === closeCodes.refused)
    return `The server does not take this host. ${reason}.`;
  if (kind === 'closed' && code === closeCodes.replaced) {
    return 'Another program has connected as this host: run one host for each data folder.';
  }
  if (kind === 'closed' && code === closeCodes.protocolError) {
    return 'The server and this host do not understand each other: bring both to the same version.';
  }
  return undefined;
}

function connectUrl(serverUrl: URL): URL {
  const url = new URL(serverUrl);
  url.protocol = serverUrl.protocol === 'https:' ? 'wss:' : 'ws:';
  url.pathname = serverUrl.pathname.replace(/\/+$/, '') + hostConnectPath;
  return url;
}
