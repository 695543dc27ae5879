import { type IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { WebSocketServer } from 'ws';
import { ApiError } from '../../../kernel/errors/api-error.ts';
import type { Limits } from '../../../kernel/limits/limits.ts';
import { refuseSocket } from './refuse-socket.ts';
import { pathOf } from '../addresses.ts';
import type { Principal } from '../principal.ts';
import { ViewerSocket } from './viewer-socket.ts';

interface Handshake {
  readonly socket: Socket;
  readonly head: Buffer;
}

/** Maximum size of a message that a caller sends on a WebSocket, in bytes. */
const maxMessageBytes = 1024;
/** Maximum number of fragments of a message. They may be empty, so no other limit counts them. */
const maxFragments = 8;

/**
 * Passes the handshakes of WebSockets to the routes as GET requests, so that they have the same rules for tokens,
 * cookies, limits and errors.
 */
export class WebSockets {
  readonly #app: FastifyInstance;
  readonly #limits: Limits;
  readonly #handshakes = new WeakMap<IncomingMessage, Handshake>();
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes,
    maxFragments,
    // Handle one message of a socket in each turn of the event loop, however many arrived at once.
    allowSynchronousEvents: false,
    // `ViewerSocket` answers pings, at a rate.
    autoPong: false,
    perMessageDeflate: false,
    clientTracking: false,
  });

  constructor(app: FastifyInstance, limits: Limits) {
    this.#app = app;
    this.#limits = limits;
  }

  /** Handles the server's `upgrade`. */
  route(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { method = '', url = '' } = request;
    // The bytes after the head of another method would never be read.
    if (method !== 'GET' || !(socket instanceof Socket)) {
      const path = pathOf(url);
      return refuseSocket(socket, ApiError.of('route_not_found', { method, path }), method);
    }
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.on('finish', () => socket.end());
    response.assignSocket(socket);
    this.#handshakes.set(request, { socket, head });
    this.#app.routing(request, response);
  }

  /** Passes the socket of the caller to `take`. Answers a handshake that is not one of WebSocket. */
  accept(
    reply: FastifyReply,
    { userId }: Pick<Principal, 'userId'>,
    take: (socket: ViewerSocket) => void,
  ): FastifyReply {
    const handshake = this.#handshakes.get(reply.request.raw);
    if (handshake === undefined) throw ApiError.of('upgrade_required', {});
    const { socket, head } = handshake;
    reply.hijack();
    reply.raw.detachSocket(socket);
    this.#server.handleUpgrade(reply.request.raw, socket, head, (webSocket) =>
      take(new ViewerSocket(webSocket, { limits: this.#limits, userId })),
    );
    return reply;
  }
}
