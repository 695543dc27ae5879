import { pipeline, type Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { chooseCoding, type Coding, compress, compressStream } from './codings.ts';
import { StaticDocument, tagOf } from './static-document.ts';

const tagsIn = (header: string): string[] => header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));

/**
 * Whether an `If-Match` or `If-None-Match` header names this version. A `tag` of `undefined`: there is no version yet.
 */
export function namesVersion(header: string, tag: string | undefined): boolean {
  if (tag === undefined) return false;
  const tags = tagsIn(header);
  return tags.includes('*') || tags.includes(tag.replace(/^W\//, ''));
}

const makeTag = (payload: string | StaticDocument): string =>
  typeof payload === 'string' ? tagOf(payload) : payload.tag;

/** Adds an `ETag` to JSON replies of reads. A request with that tag in `If-None-Match` gets a 304 without a body. */
function tagged(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
  if ((typeof payload === 'string' || payload instanceof StaticDocument) && !reply.hasHeader('etag'))
    void reply.header('etag', makeTag(payload));
  const tag = reply.getHeader('etag');
  const known = request.headers['if-none-match'];
  if (typeof tag !== 'string' || known === undefined || !namesVersion(known, tag)) return payload;
  void reply.code(304).removeHeader('content-type').removeHeader('content-length');
  return '';
}

/** Minimum size of a compressed reply: a smaller one fits few packets, and compressing costs more than it saves. */
const minBytes = 16 * 1024;
const compressible = /^(?:text\/(?!event-stream)|application\/(?:json|x-ndjson|javascript|openmetrics-text))/;

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Whether the answer is the same for every caller as long as the service runs. It is then encoded and compressed
     * once.
     */
    isStatic?: boolean;
  }
}

const isStream = (payload: unknown): payload is Readable =>
  typeof payload === 'object' && payload !== null && 'pipe' in payload;

const isBytes = (payload: unknown): payload is string | Buffer =>
  typeof payload === 'string' || Buffer.isBuffer(payload);

function isCompressible(reply: FastifyReply): boolean {
  if (reply.hasHeader('content-encoding') || reply.hasHeader('content-range')) return false;
  return compressible.test(String(reply.getHeader('content-type') ?? ''));
}

/** A stream without a length is sent in pieces because it is large. */
function sizeOf(reply: FastifyReply, payload: unknown): number {
  if (payload instanceof StaticDocument) return payload.bytes.length;
  if (isBytes(payload)) return Buffer.byteLength(payload);
  return isStream(payload) ? Number(reply.getHeader('content-length') ?? Infinity) : 0;
}

/** Returns a promise for bytes, a stream at once, and any other payload unchanged. */
function compressed(coding: Coding, payload: unknown): unknown {
  if (payload instanceof StaticDocument) return payload.compressed(coding);
  if (isBytes(payload)) return compress(coding, Buffer.from(payload));
  // An error of either side reaches the reader of the result.
  return isStream(payload) ? pipeline(payload, compressStream(coding), () => undefined) : payload;
}

/**
 * Adds an `ETag` to replies of reads, and compresses large replies for callers who ask for it. `@fastify/etag` would
 * also tag errors and replies of writes, and understands no list in `If-None-Match`; `@fastify/compress` sends a
 * compressed text without its length and compresses static documents again for each caller.
 */
export function representReplies(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply, body: unknown) => {
    const isRead = request.method === 'GET' && reply.statusCode === 200;
    const isStatic = isRead && typeof body === 'string' && request.routeOptions.config.isStatic === true;
    const found = isStatic ? StaticDocument.of(body) : body;
    const payload = isRead ? tagged(request, reply, found) : found;
    const plain = payload instanceof StaticDocument ? payload.bytes : payload;
    if (sizeOf(reply, payload) < minBytes || !isCompressible(reply)) return plain;
    void reply.header('vary', 'accept-encoding');
    const coding = chooseCoding(request.headers['accept-encoding']);
    if (coding === undefined || request.method === 'HEAD') return plain;
    void reply.header('content-encoding', coding).removeHeader('content-length');
    return compressed(coding, payload);
  });
}
