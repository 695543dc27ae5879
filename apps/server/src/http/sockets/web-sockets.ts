import { type IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type WebSocket, WebSocketServer } from 'ws';
import { ApiError } from '../../errors/api-error.ts';
import { refuseSocket } from './refuse-socket.ts';
import { pathOf } from '../addresses.ts';

interface Handshake {
  readonly socket: Socket;
  readonly head: Buffer;
}

/** Of what callers send on a WebSocket. */
const maxMessageBytes = 1024;

/**
 * Brings the handshakes of WebSockets to the routes, as GET requests: so they have the same rules for tokens, cookies,
 * limits and errors.
 */
export class WebSockets {
  readonly #app: FastifyInstance;
  readonly #handshakes = new WeakMap<IncomingMessage, Handshake>();
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    clientTracking: false,
  });

  constructor(app: FastifyInstance) {
    this.#app = app;
  }

  /** For the server's `upgrade`. */
  route(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { method = '', url = '' } = request;
    // What follows the head of another method would never be read.
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

  /** `take` gets the socket, unless the handshake is none of WebSocket, which is answered here. */
  accept(reply: FastifyReply, take: (socket: WebSocket) => void): FastifyReply {
    const handshake = this.#handshakes.get(reply.request.raw);
    if (handshake === undefined) throw ApiError.of('upgrade_required', {});
    const { socket, head } = handshake;
    reply.hijack();
    reply.raw.detachSocket(socket);
    this.#server.handleUpgrade(reply.request.raw, socket, head, take);
    return reply;
  }
}

const pingMs = 15_000;

/** Ends a socket whose peer has vanished without a word, which would be kept for ever. */
export function keepAlive(socket: WebSocket): void {
  let isAlive = true;
  const timer = setInterval(() => {
    if (!isAlive) return socket.terminate();
    isAlive = false;
    socket.ping();
  }, pingMs);
  socket.on('pong', () => (isAlive = true));
  socket.on('close', () => clearInterval(timer));
}
