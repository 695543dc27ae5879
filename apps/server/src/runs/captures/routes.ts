import { type CaptureKind, recordRoutes } from '@phalanx/protocol';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { type Captures, type CaptureKey, contentTypes } from './captures.ts';
import { type Uploads, addUploadRoute } from './uploads.ts';
import { addRawRoute } from '../../http/requests/route.ts';
import type { StoredBlob } from '../../storage/blobs/blob-store.ts';
import { sendBlob } from './send-blob.ts';
import type { SignedUrls } from './signed-urls.ts';

interface CaptureRoutesOptions {
  captures: Captures;
  uploads: Uploads<CaptureKey<CaptureKind>>;
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
    return sendBlob(capture, raw, describeCapture(reply, { key, capture, leftSeconds }));
  });

  await addUploadRoute(app, recordRoutes.putCapture, {
    kindOf: ({ params }) => params.kind,
    take: ({ principal, params }, body) => {
      const key = {
        recordId: params.record_id.toLowerCase(),
        screenId: params.screen_id.toLowerCase(),
        kind: params.kind,
      };
      return uploads.take(principal, key, body);
    },
  });
}

interface Described {
  key: CaptureKey;
  capture: StoredBlob;
  leftSeconds: number;
}

/**
 * Sets the reply headers of a capture. A capture shows a phone's screen, and its tree holds texts of an app: a browser
 * must execute neither.
 */
function describeCapture(reply: FastifyReply, { key, capture, leftSeconds }: Described): FastifyReply {
  return reply.headers({
    'content-type': contentTypes[key.kind],
    'accept-ranges': 'bytes',
    etag: `"${capture.version}"`,
    'cache-control': `private, max-age=${leftSeconds}, immutable`,
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    // The console may be served from another origin. The signed URL is the permission: there are no cookies to protect.
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'content-length, content-range, etag',
    'cross-origin-resource-policy': 'cross-origin',
  });
}
