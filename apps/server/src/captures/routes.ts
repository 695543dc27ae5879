import { recordRoutes } from '@phalanx/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { ApiError } from '../errors/api-error.ts';
import { addRawRoute } from '../http/route.ts';
import { parseRange } from './byte-range.ts';
import type { StoredBlob } from '../blobs/blob-store.ts';
import { type CaptureKey, type Captures, contentTypes } from './captures.ts';
import type { CaptureUploads } from './capture-uploads.ts';
import { tooLarge } from './checked-body.ts';
import type { SignedUrls } from './signed-urls.ts';

interface CaptureRoutesOptions {
  captures: Captures;
  uploads: CaptureUploads;
  urls: SignedUrls;
}

/** `PUT /hosts/records/:record_id/screens/:screen_id/:kind` · `GET /captures/:record_id/:screen_id/:kind` */
export async function addCaptureRoutes(
  app: FastifyInstance,
  { captures, uploads, urls }: CaptureRoutesOptions,
): Promise<void> {
  addRawRoute(app, recordRoutes.readCapture, async ({ params, query, raw }, reply) => {
    const key = { recordId: params.record_id, screenId: params.screen_id, kind: params.kind };
    const leftSeconds = urls.check(key, query);
    const capture = await captures.find(key);
    if (capture === undefined) throw ApiError.of('capture_not_found', {});
    return sendCapture(capture, raw, describeCapture(reply, { key, capture, leftSeconds }));
  });

  // Bodies that are not JSON are let through here and nowhere else, and read by the handler itself.
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _body, done) => done(null));
    addRawRoute(scope, recordRoutes.putCapture, async ({ principal, params, raw }, reply) => {
      const key = {
        recordId: params.record_id.toLowerCase(),
        screenId: params.screen_id.toLowerCase(),
        kind: params.kind,
      };
      requireHeaders(raw, contentTypes[params.kind]);
      // A refusal must reach the host, so its socket stays open.
      const body = raw.raw.iterator({ destroyOnReturn: false });
      await uploads.take(principal.userId, key, body);
      return reply.send({ success: true });
    });
  });
}

function requireHeaders({ headers, routeOptions }: FastifyRequest, contentType: string): void {
  const given = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (given !== contentType) throw ApiError.of('wrong_capture_type', { content_type: contentType });
  if (Number(headers['content-length'] ?? 0) > (routeOptions.bodyLimit ?? 0)) throw tooLarge();
}

interface Described {
  key: CaptureKey;
  capture: StoredBlob;
  leftSeconds: number;
}

/** A capture shows what was on a phone, and its tree what an app wrote: neither may do anything in a browser. */
function describeCapture(reply: FastifyReply, { key, capture, leftSeconds }: Described): FastifyReply {
  return reply.headers({
    'content-type': contentTypes[key.kind],
    'accept-ranges': 'bytes',
    etag: `"${capture.version}"`,
    'cache-control': `private, max-age=${leftSeconds}, immutable`,
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    // The console may be served from elsewhere. The URL itself is the permission: there are no cookies to protect.
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'content-length, content-range, etag',
    'cross-origin-resource-policy': 'cross-origin',
  });
}

async function sendCapture(
  capture: StoredBlob,
  { headers }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const etag = `"${capture.version}"`;
  if (isCached(headers['if-none-match'], etag)) {
    await capture.close();
    return reply.code(304).removeHeader('content-type').send();
  }
  const isOtherVersion = headers['if-range'] !== undefined && headers['if-range'] !== etag;
  const range = isOtherVersion ? 'whole' : parseRange(headers.range, capture.sizeBytes);
  if (range === 'unsatisfiable') {
    await capture.close();
    void reply.header('content-range', `bytes */${capture.sizeBytes}`).header('cache-control', 'no-store');
    throw ApiError.of('range_not_satisfiable', { size: capture.sizeBytes });
  }
  const { first, last } = range === 'whole' ? { first: 0, last: capture.sizeBytes - 1 } : range;
  void reply.header('content-length', last - first + 1);
  if (range !== 'whole')
    void reply.code(206).header('content-range', `bytes ${first}-${last}/${capture.sizeBytes}`);
  return reply.send(capture.read({ first, last }));
}

function isCached(header: string | undefined, etag: string): boolean {
  const known = (header ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
  return known.includes(etag) || known.includes('*');
}
