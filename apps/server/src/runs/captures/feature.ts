import { createHmac, timingSafeEqual } from 'node:crypto';
import { type CaptureKind, recordRoutes } from '@phalanx/protocol';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { addBackgroundJob } from '../../storage/background-job.ts';
import { openBlobs } from '../../storage/blobs/open-blobs.ts';
import type { Context } from '../../http/context.ts';
import { readUrlKey } from '../../storage/db/installation.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { RecordFigures } from '../../http/health/metrics.ts';
import {
  CaptureCleaner,
  type RecordDeletions,
  type CaptureKey,
  Captures,
  capturesName,
  contentTypes,
} from './captures.ts';
import { type UploadNotes, Uploads, addUploadRoute } from './uploads.ts';
import { addRawRoute } from '../../http/requests/route.ts';
import type { StoredBlob } from '../../storage/blobs/blob-store.ts';
import { sendBlob } from './send-blob.ts';
import type { Clock } from '../../kernel/clock.ts';

/** What the records know of a capture. */
export type CaptureNotes = Omit<UploadNotes<CaptureKey<CaptureKind>>, 'notExpected'>;

export interface CaptureFiles {
  readonly captures: Captures;
  readonly urls: SignedUrls;
}

/** `base`: public base of capture URLs, without a slash at its end. Throws when the folder of the captures can't be used. */
export async function openCaptures(context: Context, base: () => string): Promise<CaptureFiles> {
  const { bucket, clock, database, dataDir, faults } = context;
  const missing = (): Error => ApiError.of('capture_not_found', {});
  return {
    captures: new Captures(await openBlobs({ name: capturesName, dataDir, bucket, missing }, faults)),
    urls: new SignedUrls({ key: await readUrlKey(database), clock, base }),
  };
}

interface CaptureDependencies extends CaptureFiles {
  /** What the records know of captures. */
  notes: CaptureNotes & RecordDeletions;
  figures: RecordFigures;
}

/** Returns a function that deletes the captures of deleted records. */
export async function serveCaptures(
  context: Context,
  { captures, urls, notes, figures }: CaptureDependencies,
): Promise<() => Promise<void>> {
  const { app, limits } = context;
  const uploads = new Uploads({
    ...notes,
    notExpected: ({ recordId, screenId, kind }) =>
      ApiError.of('capture_not_expected', { record_id: recordId, screen_id: screenId, kind }),
    captures,
    limits,
    figures,
  });
  await addCaptureRoutes(app, { captures, uploads, urls });
  return addCleaning(context, new CaptureCleaner({ ...notes, captures }));
}

const minuteMs = 60_000;

function addCleaning(context: Context, cleaner: CaptureCleaner): () => Promise<void> {
  addBackgroundJob(context, {
    name: 'delete captures without a record',
    everyMs: minuteMs,
    work: () => cleaner.cleanNextPart(),
  });
  // What a crash left undone is done at the start.
  return addBackgroundJob(context, {
    name: 'delete captures of deleted records',
    everyMs: minuteMs,
    atStart: true,
    work: () => cleaner.clean(),
  });
}

interface CaptureRoutesOptions {
  captures: Captures;
  uploads: Uploads<CaptureKey<CaptureKind>>;
  urls: SignedUrls;
}

/** `PUT /hosts/records/:record_id/screens/:screen_id/:kind` · `GET /captures/:record_id/:screen_id/:kind` */
async function addCaptureRoutes(
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

interface Options {
  key: Buffer;
  clock: Clock;
  /** Public base of the URLs, without a slash at its end. */
  base: () => string;
}

interface Signature {
  /** Epoch seconds. */
  expires: string;
  signature: string;
}

/** Every URL works for a day at least. */
const validSeconds = 24 * 60 * 60;
/** Within so many seconds a capture keeps its URL, so that a browser's cache knows it again. */
const stableSeconds = 6 * 60 * 60;

/** Makes and checks URLs at which a browser can read one capture for some time, without a header. */
class SignedUrls {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  urlOf({ recordId, screenId, kind }: CaptureKey): string {
    const { base, clock } = this.#options;
    const startOfPeriod = Math.floor(clock.now() / 1000 / stableSeconds) * stableSeconds;
    const expires = String(startOfPeriod + stableSeconds + validSeconds);
    const signature = this.#sign({ recordId, screenId, kind }, expires);
    const path = recordRoutes.readCapture.path
      .replace(':record_id', recordId)
      .replace(':screen_id', screenId)
      .replace(':kind', kind);
    return `${base()}${path}?expires=${expires}&signature=${signature}`;
  }

  /** Throws `capture_url_invalid` or `capture_url_expired`. Returns for how many seconds the URL still works. */
  check(key: CaptureKey, { expires, signature }: Signature): number {
    const expected = Buffer.from(this.#sign(key, expires));
    const given = Buffer.from(signature);
    // The texts, not their bytes: several texts of base64 stand for the same bytes.
    if (given.byteLength !== expected.byteLength || !timingSafeEqual(given, expected))
      throw ApiError.of('capture_url_invalid', {});
    const leftSeconds = Math.floor(Number(expires) - this.#options.clock.now() / 1000);
    if (leftSeconds <= 0) throw ApiError.of('capture_url_expired', {});
    return leftSeconds;
  }

  #sign({ recordId, screenId, kind }: CaptureKey, expires: string): string {
    return createHmac('sha256', this.#options.key)
      .update(`capture ${recordId} ${screenId} ${kind} ${expires}`)
      .digest('base64url');
  }
}
