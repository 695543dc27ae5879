import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import type { Turns } from '../../../kernel/limits/turns.ts';
import { ApiError } from '../../../kernel/errors/api-error.ts';
import { findExcess, JsonScan } from './json-bounds.ts';
import { refuseSocket } from '../sockets/refuse-socket.ts';

/** Maximum size of a body, not counting one long text that its endpoint allows. */
export const maxJsonBytes = 1024 * 1024;

export const jsonContentType = /^application\/(?:[\w.+-]+\+)?json(?:\s*;|$)/i;

/** Returns the place of the mistake, without the engine's own message, which quotes the body. */
function placeOf(error: unknown): string {
  const place = error instanceof Error ? /line \d+ column \d+/.exec(error.message)?.[0] : undefined;
  return place === undefined ? 'it is empty, cut short or not JSON at all' : `look at ${place}`;
}

/** Throws `malformed_json`. */
export function parseJson(bytes: Buffer): unknown {
  requireBounds(findExcess(bytes));
  return parseChecked(bytes);
}

function requireBounds(excess: string | undefined): void {
  if (excess !== undefined) throw ApiError.of('malformed_json', { reason: `it ${excess}` });
}

function parseChecked(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw ApiError.of('malformed_json', { reason: 'it is not UTF-8' });
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw ApiError.of('malformed_json', { reason: placeOf(error) });
  }
}

/** Accepts bodies of JSON alone. Each piece is checked when it arrives. */
export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(jsonContentType, async (request: FastifyRequest, body: IncomingMessage) => {
    const limit = request.routeOptions.bodyLimit ?? maxJsonBytes;
    const scan = new JsonScan();
    const pieces: Buffer[] = [];
    let length = 0;
    const chunks: AsyncIterable<Buffer> = body.iterator({ destroyOnReturn: false });
    for await (const piece of chunks) {
      length += piece.length;
      if (length > limit) throw ApiError.of('body_too_large', { limit });
      const excess = scan.push(piece);
      if (scan.bytesAroundText > maxJsonBytes) throw ApiError.of('body_too_large', { limit: maxJsonBytes });
      requireBounds(excess);
      pieces.push(piece);
    }
    // Many clients send a content type with every request, even to an endpoint without a body.
    if (length === 0 && request.routeOptions.schema?.body === undefined) return undefined;
    return parseChecked(Buffer.concat(pieces));
  });
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route itself reads the body, of any length and encoding. */
    readsBody?: boolean;
  }
}

/**
 * Maximum bytes of a refused body that are read and thrown away: more of callers, who may send large bodies, than of
 * strangers.
 */
const maxUnreadBytes = { ofStrangers: 16 * 1024 * 1024, ofCallers: 256 * 1024 * 1024 };

/** Requests whose body comes only when it is asked for. */
const waiting = new WeakSet<IncomingMessage>();

/** Maximum size of a body that arrives together with its request; an unread socket buffers as much. */
const smallBytes = 64 * 1024;

interface BodyTurns {
  readonly turns: Turns;
  /** Returns the address that identifies a caller without a token. */
  readonly addressOf: (request: IncomingMessage) => string;
}

/**
 * A body is asked for, and read, when nothing that stands before it speaks against it. One that is not small takes a
 * turn before, which ends with the answer: what a user sends at once waits in the user's sockets, and not in memory.
 */
export function checkBodiesFirst(app: FastifyInstance, { turns, addressOf }: BodyTurns): void {
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
    const read = (): void => {
      if (waiting.delete(request.raw)) reply.raw.writeContinue();
      done(null, payload);
    };
    if (!mayBeLarge(request)) return read();
    const sender = request.hasPrincipal ? request.principal.userId : addressOf(request.raw);
    turns.take(sender).then((release) => {
      if (reply.raw.closed) release();
      else reply.raw.once('close', release);
      read();
    }, done);
  });
}

/** Whether a JSON body may be larger than a small one, because its length says so or is missing. */
function mayBeLarge({ headers, routeOptions: { schema } }: FastifyRequest): boolean {
  if (schema?.body === undefined) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > smallBytes;
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
  // The client may send the body all the same, so the next bytes could be the body or another request.
  if (waiting.has(raw)) return void reply.header('connection', 'close');
  // Closing at once would reset the connection while the peer is still sending.
  void reply.removeHeader('connection');
  const limit = request.hasPrincipal ? maxUnreadBytes.ofCallers : maxUnreadBytes.ofStrangers;
  let passedBytes = 0;
  raw.on('data', (chunk: Buffer) => {
    passedBytes += chunk.length;
    if (passedBytes > limit) raw.socket.destroy();
  });
}
