import type { CaptureKind } from '@phalanx/protocol';
import { addBackgroundJob } from '../../storage/background-job.ts';
import { openBlobs } from '../../storage/blobs/open-blobs.ts';
import type { Context } from '../../http/context.ts';
import { readUrlKey } from '../../storage/db/installation.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { RecordFigures } from '../../http/health/metrics.ts';
import { type RecordDeletions, type CaptureKey, Captures, capturesName } from './captures.ts';
import { CaptureCleaner } from './capture-cleaner.ts';
import { type UploadNotes, Uploads } from './uploads.ts';
import { SignedUrls } from './signed-urls.ts';
import { addCaptureRoutes } from './routes.ts';
import { minuteMs } from '../../kernel/durations.ts';

/** Notes of the records about a capture. */
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
  /** Notes of the records about captures. */
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

function addCleaning(context: Context, cleaner: CaptureCleaner): () => Promise<void> {
  addBackgroundJob(context, {
    name: 'delete captures without a record',
    everyMs: minuteMs,
    work: () => cleaner.cleanNextPart(),
  });
  // Deletions that a crash left undone are done at the start.
  return addBackgroundJob(context, {
    name: 'delete captures of deleted records',
    everyMs: minuteMs,
    atStart: true,
    work: () => cleaner.clean(),
  });
}
