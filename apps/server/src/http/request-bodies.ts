import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { ApiError } from './api-error.ts';
import { refuseSocket } from './refuse-socket.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route reads the body by itself, of any length and encoding. */
    readsBody?: boolean;
  }
}

/** As much as the largest body of an endpoint that takes JSON; more of those who may send such bodies. */
const mostUnreadBytes = { ofStrangers: 16 * 1024 * 1024, ofCallers: 256 * 1024 * 1024 };

/** Requests whose body comes only when it is asked for. */
const waiting = new WeakSet<IncomingMessage>();

/** A body is asked for, and read, when nothing that stands before it speaks against it. */
export function checkBodiesFirst(app: FastifyInstance): void {
  app.server.on('checkContinue', (request: IncomingMessage, response) => {
    waiting.add(request);
    app.server.emit('request', request, response);
  });
  app.server.on('checkExpectation', ({ socket, headers }: IncomingMessage) => {
    const expectation = String(headers.expect).slice(0, 100);
    refuseSocket(socket, ApiError.of('expectation_failed', { expectation }));
  });
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (request.is404) return done(null, payload);
    const refusal = findRefusal(request);
    if (refusal !== undefined) return done(refusal);
    if (waiting.delete(request.raw)) reply.raw.writeContinue();
    done(null, payload);
  });
}

function findRefusal({ headers, routeOptions: { bodyLimit, config } }: FastifyRequest): ApiError | undefined {
  if (config.readsBody === true) return undefined;
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity')
    return ApiError.of('unsupported_encoding', { encoding: encoding.slice(0, 100) });
  if (Number(headers['content-length'] ?? 0) > bodyLimit)
    return ApiError.of('body_too_large', { limit: bodyLimit });
  return undefined;
}

/**
 * The rest of a refused body is thrown away, so that the peer comes to read the reply; one that sends on and on is
 * cut off.
 */
export function endUnreadBody(request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = request;
  if (raw.complete) return;
  // Nobody has asked for it, and what comes next on the connection may be it or another request.
  if (waiting.has(raw)) return void reply.header('connection', 'close');
  // To close at once would reset the connection under a peer that is still sending.
  void reply.removeHeader('connection');
  const limit = request.hasPrincipal ? mostUnreadBytes.ofCallers : mostUnreadBytes.ofStrangers;
  let passedBytes = 0;
  raw.on('data', (chunk: Buffer) => {
    passedBytes += chunk.length;
    if (passedBytes > limit) raw.socket.destroy();
  });
}
