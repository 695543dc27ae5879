import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { closeCodes, hostConnectPath, maxFrameBytes } from '@phalanx/protocol';
import type { Logger } from 'pino';
import { WebSocketServer } from 'ws';

import type { Clock } from '../clock.ts';
import type { FaultMonitor } from '../faults/fault-monitor.ts';
import { ApiError } from '../http/api-error.ts';
import { Deed, type DeedLog, type Doer } from '../http/deed.ts';
import { requireScope, type Authenticate } from '../http/authentication.ts';
import type { Principal } from '../http/principal.ts';
import type { Limits } from '../limits/limits.ts';
import { refuseSocket } from '../http/refuse-socket.ts';
import type { WebSockets } from '../http/web-sockets.ts';
import { HostConnection } from './connection.ts';
import type { HostCandidate } from './host-admission.ts';
import type { HostLink } from './host-link.ts';
import { HostListeners } from './host-listeners.ts';

interface GatewayOptions {
  authenticate: Authenticate;
  addressOf: (request: IncomingMessage) => string;
  /** The same, of one machine. */
  peerOf: (request: IncomingMessage) => string;
  /** Throws when the connection of the request is one too many. */
  requirePlace: (request: IncomingMessage) => void;
  clock: Clock;
  log: Logger;
  faults: FaultMonitor;
  limits: Limits;
  heartbeatMs: number;
  deeds: DeedLog;
}

const pathOf = ({ url }: IncomingMessage): string => url?.split('?', 1)[0] ?? '';

/** Takes the WebSockets of hosts. */
export class HostGateway {
  readonly #options: GatewayOptions;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxFrameBytes,
    perMessageDeflate: false,
    clientTracking: false,
  });
  readonly #connections = new Set<HostConnection>();
  readonly #listeners: HostListeners;
  #isClosed = false;
  #admitHost: (candidate: HostCandidate) => Promise<void> = async () => undefined;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#listeners = new HostListeners(options.faults);
    this.#listeners.on('hello', (link) => this.#dropEarlier(link));
  }

  /** Registers a feature for what hosts say. */
  get on(): HostListeners['on'] {
    return this.#listeners.on.bind(this.#listeners);
  }

  /** Sets who is asked whether a host may connect; it throws `HostRefused`. */
  admitBy(admitHost: (candidate: HostCandidate) => Promise<void>): void {
    this.#admitHost = admitHost;
  }

  isConnected(userId: string, hostId: string): boolean {
    return this.#connections.values().some((one) => one.userId === userId && one.hostId === hostId);
  }

  get size(): number {
    return this.#connections.size;
  }

  /** `others`: takes the WebSockets that are not of hosts. */
  attach(server: Server, others: WebSockets): void {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on('error', () => socket.destroy());
      if (pathOf(request) === hostConnectPath) void this.#upgrade(request, socket, head);
      else others.route(request, socket, head);
    });
  }

  /** Ends the connections that were made with a token that is no longer valid. */
  dropToken(tokenId: string): void {
    for (const connection of this.#connections) {
      if (connection.tokenId === tokenId) connection.drop(closeCodes.unauthorized, 'the token was revoked');
    }
  }

  dropExpired(): void {
    const now = this.#options.clock.now();
    for (const connection of this.#connections) {
      if (connection.expiresAt <= now) connection.drop(closeCodes.unauthorized, 'the token has expired');
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const connection of this.#connections) connection.drop(1001, 'the service is stopping');
    this.#sockets.close();
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const address = this.#options.peerOf(request);
    const doer: Doer = { principal: undefined, address, requestId: null };
    try {
      const principal = await this.#admit(request, doer);
      this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
        const connection = new HostConnection({
          ...{ ...this.#options, listeners: this.#listeners, admitHost: this.#admitHost },
          ...{ socket: webSocket, principal, address },
        });
        this.#connections.add(connection);
        webSocket.once('close', () => this.#connections.delete(connection));
      });
    } catch (error) {
      this.#refuse(socket, error, doer);
    }
  }

  async #admit(request: IncomingMessage, doer: Doer): Promise<Principal> {
    if (this.#isClosed) throw ApiError.of('not_ready', { reason: 'stopping' });
    const { authenticate, addressOf, requirePlace } = this.#options;
    requirePlace(request);
    const principal = await authenticate(request.headers.authorization, () => addressOf(request));
    doer.principal = principal;
    requireScope(principal, 'host');
    if (principal.projectIds !== null)
      throw ApiError.of('forbidden', { reason: 'A token that is limited to projects is no host' });
    return principal;
  }

  #refuse(socket: Duplex, error: unknown, doer: Doer): void {
    if (!(error instanceof ApiError)) this.#options.faults.report(error, 'a host could not be admitted');
    const known =
      error instanceof ApiError ? error : ApiError.of('not_ready', { reason: 'not able to admit hosts' });
    this.#options.deeds.failed(new Deed('connect_host', doer), known);
    refuseSocket(socket, known);
  }

  /** A host that connects again replaces its earlier connection. */
  #dropEarlier(link: HostLink): void {
    for (const other of this.#connections) {
      const isSameHost = other.hostId === link.hostId && other.userId === link.userId;
      if (other !== link && isSameHost) other.drop(closeCodes.replaced, 'the host has connected again');
    }
  }
}
