import type { CaptureKind } from '@phalanx/protocol';
import { addBackgroundJob } from '../../storage/background-job.ts';
import { openBlobs } from '../../storage/blobs/open-blobs.ts';
import type { Context } from '../../http/context.ts';
import { readUrlKey } from '../../storage/db/installation.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { RecordFigures } from '../../http/health/metrics.ts';
import { type CaptureKey, Captures, capturesName, type KnownOwners } from './captures.ts';
import { CaptureCleaner } from './capture-cleaner.ts';
import { type UploadNotes, Uploads } from './uploads.ts';
import { SignedUrls } from './signed-urls.ts';
import { addCaptureRoutes } from './routes.ts';
import { minuteMs } from '@phalanx/timing/durations';

/** Bookkeeping of the records about a capture. */
export type CaptureNotes = Omit<UploadNotes<CaptureKey<CaptureKind>>, 'notExpected'>;

export interface CaptureFiles {
  readonly captures: Captures;
  readonly urls: SignedUrls;
}

/**
 * Opens the captures. `base` is the public base of capture URLs, without a trailing slash. Throws when the capture
 * folder can't be used.
 */
export async function openCaptures(context: Context, base: () => string): Promise<CaptureFiles> {
  const { bucket, clock, database, dataDir, faults } = context;
  const missing = (): Error => ApiError.of('capture_not_found', {});
  return {
    captures: new Captures(await openBlobs({ name: capturesName, dataDir, bucket, missing }, faults)),
    urls: new SignedUrls({ key: await readUrlKey(database), clock, base }),
  };
}

interface CaptureDependencies extends CaptureFiles {
  /** Bookkeeping of the records about captures. */
  notes: CaptureNotes & KnownOwners;
  figures: RecordFigures;
}

export async function serveCaptures(
  context: Context,
  { captures, urls, notes, figures }: CaptureDependencies,
): Promise<void> {
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
  addCleaning(context, captures, notes);
}

function addCleaning(context: Context, captures: Captures, { listKnown }: KnownOwners): void {
  const cleaner = new CaptureCleaner({ captures, listKnown });
  addBackgroundJob(context, {
    name: 'delete captures without a record',
    everyMs: minuteMs,
    work: () => cleaner.cleanNextPart(),
  });
  context.workers.add({
    kind: 'delete captures',
    places: { all: 4, lane: 4 },
    claimMs: minuteMs,
    work: async ({ items }) => {
      for (const { key } of items) await captures.deleteRecord(key);
    },
  });
}
