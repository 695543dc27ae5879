import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { ApiError } from './api-error.ts';
import { bytesAroundText, findExcess } from './json-bounds.ts';
import { refuseSocket } from './refuse-socket.ts';

/** The JSON around one long text, which may be as long as its endpoint allows. */
export const maxJsonBytes = 1024 * 1024;

export const jsonContentType = /^application\/(?:[\w.+-]+\+)?json(?:\s*;|$)/i;

/** The place of the mistake, without the engine's own words (which quote the body). */
function placeOf(error: unknown): string {
  const place = error instanceof Error ? /line \d+ column \d+/.exec(error.message)?.[0] : undefined;
  return place === undefined ? 'it is empty, cut short or not JSON at all' : `look at ${place}`;
}

/** Throws `malformed_json`. */
export function parseJson(bytes: Buffer): unknown {
  const excess = findExcess(bytes);
  if (excess !== undefined) throw ApiError.of('malformed_json', { reason: `it ${excess}` });
  if (!isUtf8(bytes)) throw ApiError.of('malformed_json', { reason: 'it is not UTF-8' });
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw ApiError.of('malformed_json', { reason: placeOf(error) });
  }
}

/** Bodies are JSON and nothing else. */
export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(jsonContentType, { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body);
      if (bytes.length > maxJsonBytes && bytesAroundText(bytes) > maxJsonBytes)
        throw ApiError.of('body_too_large', { limit: maxJsonBytes });
      done(null, parseJson(bytes));
    } catch (error) {
      done(error instanceof Error ? error : new Error('not JSON', { cause: error }));
    }
  });
}

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
  app.server.on('checkExpectation', ({ socket, headers, method }: IncomingMessage) => {
    const expectation = String(headers.expect).slice(0, 100);
    refuseSocket(socket, ApiError.of('expectation_failed', { expectation }), method);
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
