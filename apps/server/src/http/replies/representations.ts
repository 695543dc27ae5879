import { hash } from 'node:crypto';
import { pipeline, type Readable } from 'node:stream';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { boundedCache } from '../../bounded-cache.ts';

const tagsIn = (header: string): string[] => header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));

/** Whether an `If-Match` or `If-None-Match` header names this version; `undefined`: there is nothing yet. */
export function namesVersion(header: string, tag: string | undefined): boolean {
  if (tag === undefined) return false;
  const tags = tagsIn(header);
  return tags.includes('*') || tags.includes(tag.replace(/^W\//, ''));
}

/** Every JSON that is read has an `ETag`; who names it in `If-None-Match` gets a 304 without a body. */
function tagged(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
  if (typeof payload === 'string' && !reply.hasHeader('etag'))
    void reply.header('etag', `W/"${hash('sha1', payload, 'base64url')}"`);
  const tag = reply.getHeader('etag');
  const known = request.headers['if-none-match'];
  if (typeof tag !== 'string' || known === undefined || !namesVersion(known, tag)) return payload;
  void reply.code(304).removeHeader('content-type').removeHeader('content-length');
  return '';
}

/** Below this a reply fits few packets, and compressing costs more than it saves. */
const minBytes = 16 * 1024;
const compressible = /^(?:text\/(?!event-stream)|application\/(?:json|x-ndjson|javascript|openmetrics-text))/;

// As fast as gzip, and smaller.
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The answer is the same for everybody as long as the service runs: it is compressed once. */
    isStatic?: boolean;
  }
}

type Done = (error: Error | null, data: Buffer) => void;

/** Both work in Node's thread pool. */
const codings = {
  br: {
    bytes: (data: Buffer, done: Done) => brotliCompress(data, brotliOptions, done),
    stream: () => createBrotliCompress(brotliOptions),
  },
  gzip: { bytes: (data: Buffer, done: Done) => gzip(data, done), stream: () => createGzip() },
} as const;

/** The best coding that an `Accept-Encoding` header names and does not refuse. */
export function chooseCoding(header: string | undefined): keyof typeof codings | undefined {
  const offers = (header ?? '').toLowerCase().split(',');
  const accepts = (coding: string): boolean =>
    offers.some((offer) => {
      const [name = '', ...parameters] = offer.split(';').map((part) => part.trim());
      return name === coding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
    });
  if (accepts('br')) return 'br';
  return accepts('gzip') ? 'gzip' : undefined;
}

/** Static documents, of which there are some dozens. */
const maxKept = 500;

/** Documents that have been compressed, or are at this moment, by content and coding. */
const kept = boundedCache<Promise<Buffer>>(maxKept);

/** Compresses a static document once, however many ask for it. */
export function compressOnce(coding: keyof typeof codings, data: Buffer): Promise<Buffer> {
  const key = `${coding} ${data.length} ${hash('sha1', data, 'base64url')}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const compressed = new Promise<Buffer>((resolve, reject) => {
    codings[coding].bytes(data, (error, bytes) => (error === null ? resolve(bytes) : reject(error)));
  });
  kept.set(key, compressed);
  compressed.catch(() => kept.delete(key));
  return compressed;
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
  if (isBytes(payload)) return Buffer.byteLength(payload);
  return isStream(payload) ? Number(reply.getHeader('content-length') ?? Infinity) : 0;
}

/** What is read gets its `ETag`, and large replies are compressed for callers who ask for it. */
export function representReplies(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, body: unknown, done) => {
    const isRead = request.method === 'GET' && reply.statusCode === 200;
    const payload = isRead ? tagged(request, reply, body) : body;
    if (sizeOf(reply, payload) < minBytes || !isCompressible(reply)) return done(null, payload);
    void reply.header('vary', 'accept-encoding');
    const coding = chooseCoding(request.headers['accept-encoding']);
    if (coding === undefined || request.method === 'HEAD') return done(null, payload);
    void reply.header('content-encoding', coding).removeHeader('content-length');
    if (isBytes(payload) && request.routeOptions.config.isStatic === true)
      compressOnce(coding, Buffer.from(payload)).then((bytes) => done(null, bytes), done);
    else if (isBytes(payload)) codings[coding].bytes(Buffer.from(payload), done);
    // Whoever reads the result meets the error of either side.
    else
      done(null, isStream(payload) ? pipeline(payload, codings[coding].stream(), () => undefined) : payload);
  });
}
