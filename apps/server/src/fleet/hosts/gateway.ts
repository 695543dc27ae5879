import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { closeCodes, hostConnectPath, maxFrameBytes, otherDoors } from '@phalanx/protocol';
import type { Logger } from 'pino';
import { WebSocketServer } from 'ws';
import type { Clock } from '../../kernel/clock.ts';
import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { AuditEvent, type AuditEventSink, type Actor } from '../../http/requests/audit-event.ts';
import type { Authenticate } from '../../http/requests/authentication.ts';
import { requireAllowed } from '../../http/requests/policy.ts';
import { pathOf } from '../../http/requests/addresses.ts';
import type { Principal } from '../../http/requests/principal.ts';
import type { Limits } from '../../kernel/limits/limits.ts';
import { TimeSlice } from '../../kernel/limits/time-slice.ts';
import { refuseSocket } from '../../http/requests/sockets/refuse-socket.ts';
import type { WebSockets } from '../../http/requests/sockets/web-sockets.ts';
import { HostConnection } from './connection.ts';
import type { HostSessions } from './host-sessions.ts';
import type { HostLink } from './host-link.ts';
import { HostListeners } from './host-listeners.ts';

interface GatewayOptions {
  authenticate: Authenticate;
  addressOf: (request: IncomingMessage) => string;
  /** Returns the address of the single machine; `addressOf` returns the address of its network. */
  peerOf: (request: IncomingMessage) => string;
  /** Throws when the request would exceed the connection limit. */
  requirePlace: (request: IncomingMessage) => void;
  clock: Clock;
  log: Logger;
  faults: FaultMonitor;
  limits: Limits;
  heartbeatMs: number;
  auditEvents: AuditEventSink;
}

/** Maximum number of hosts that are disconnected at once when they move to other servers: 100 per second. */
const maxMovedAtOnce = 10;
const betweenMovesMs = 100;
const connectedAgain = 'the host has connected again';

const keyOf = ({ userId, hostId }: { userId: string; hostId: string }): string => `${userId} ${hostId}`;

/** Accepts the WebSockets of hosts. */
export class HostGateway {
  readonly #options: GatewayOptions;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxFrameBytes,
    perMessageDeflate: false,
    clientTracking: false,
  });
  readonly #connections = new Set<HostConnection>();
  /** The newest connection of each host. */
  readonly #ofHosts = new Map<string, HostLink>();
  readonly #listeners: HostListeners;
  readonly #slice = new TimeSlice();
  #isClosed = false;
  #sessions: HostSessions | undefined;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#listeners = new HostListeners(options.faults);
    this.#listeners.on('hello', (link) => this.#dropEarlier(link));
  }

  /** Registers a listener for events of hosts. */
  get on(): HostListeners['on'] {
    return this.#listeners.on.bind(this.#listeners);
  }

  /** Sets the sessions that admit hosts; until then, every host is refused. */
  admitBy(sessions: HostSessions): void {
    this.#sessions = sessions;
  }

  /** Whether the gateway refuses new hosts because it is closing. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  get size(): number {
    return this.#connections.size;
  }

  /** Handles upgrade requests of the server. `others` receives the WebSockets that are not from hosts. */
  attach(server: Server, others: WebSockets): void {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on('error', () => socket.destroy());
      if (pathOf(request.url) === hostConnectPath) void this.#upgrade(request, socket, head);
      else others.route(request, socket, head);
    });
  }

  /** Closes the connections whose token is no longer valid. */
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

  /** Returns the IDs of the tokens of all connections. */
  tokenIds(): string[] {
    return [...this.#connections].map(({ tokenId }) => tokenId);
  }

  /** Returns the epochs of the connections of hosts. */
  epochs(): number[] {
    return [...this.#connections].map(({ epoch }) => epoch).filter((epoch) => epoch > 0);
  }

  /** Drops the connection of a host that has connected to another server. */
  dropOlder(opened: { userId: string; hostId: string; epoch: number }): void {
    const link = this.#ofHosts.get(keyOf(opened));
    if (link !== undefined && link.epoch < opened.epoch) link.drop(closeCodes.replaced, connectedAgain);
  }

  /** Drops connections that newer ones on other servers have replaced, even when no bus message announced it. */
  dropEpochs(epochs: ReadonlySet<number>): void {
    for (const connection of this.#connections)
      if (epochs.has(connection.epoch)) connection.drop(closeCodes.replaced, connectedAgain);
  }

  dropAll(closeCode: number, reason: string): void {
    for (const connection of this.#connections) connection.drop(closeCode, reason);
  }

  /**
   * Disconnects the hosts so that they move to other servers, slowly enough not to overload those. Resolves when all
   * connections are closed. New hosts are refused.
   */
  async moveAway(): Promise<void> {
    this.#isClosed = true;
    while (this.#connections.size > 0) {
      for (const connection of [...this.#connections].slice(0, maxMovedAtOnce))
        connection.drop(closeCodes.serviceRestart, 'this server is stopping: connect again');
      await pause(betweenMovesMs);
    }
  }

  /** Resolves when the listeners have been notified that all hosts are disconnected. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.dropAll(1001, 'the service is stopping');
    this.#sockets.close();
    await Promise.all([...this.#connections].map(({ whenClosed }) => whenClosed));
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const address = this.#options.peerOf(request);
    const actor: Actor = { principal: undefined, address, requestId: null };
    try {
      while (this.#slice.isOver) await this.#slice.next();
      const principal = await this.#admit(request, actor);
      const sessions = this.#requireSessions();
      this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
        const connection = new HostConnection({
          ...this.#options,
          listeners: this.#listeners,
          slice: this.#slice,
          sessions,
          socket: webSocket,
          principal,
          address,
        });
        this.#connections.add(connection);
        webSocket.once('close', () => void connection.whenClosed.then(() => this.#forget(connection)));
      });
    } catch (error) {
      this.#refuse(socket, error, actor);
    }
  }

  async #admit(request: IncomingMessage, actor: Actor): Promise<Principal> {
    if (this.#isClosed) throw ApiError.of('not_ready', { reason: 'stopping' });
    const { authenticate, addressOf, requirePlace } = this.#options;
    requirePlace(request);
    const principal = await authenticate(request.headers.authorization, () => addressOf(request));
    actor.principal = principal;
    requireAllowed(principal, otherDoors.host);
    return principal;
  }

  #requireSessions(): HostSessions {
    if (this.#sessions === undefined) throw ApiError.of('not_ready', { reason: 'starting' });
    return this.#sessions;
  }

  #refuse(socket: Duplex, error: unknown, actor: Actor): void {
    if (!(error instanceof ApiError)) this.#options.faults.report(error, 'a host could not be admitted');
    const known =
      error instanceof ApiError ? error : ApiError.of('not_ready', { reason: 'not able to admit hosts' });
    this.#options.auditEvents.failed(new AuditEvent('connect_host', actor), known);
    refuseSocket(socket, known);
  }

  /** Drops the earlier connection of a host that has reconnected. */
  #dropEarlier(link: HostLink): void {
    const other = this.#ofHosts.get(keyOf(link));
    const [earlier, newest] = other !== undefined && other.epoch > link.epoch ? [link, other] : [other, link];
    this.#ofHosts.set(keyOf(link), newest);
    earlier?.drop(closeCodes.replaced, connectedAgain);
  }

  #forget(connection: HostConnection): void {
    this.#connections.delete(connection);
    if (this.#ofHosts.get(keyOf(connection)) === connection) this.#ofHosts.delete(keyOf(connection));
  }
}
