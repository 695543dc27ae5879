import type { FilmPartAbout, FilmPicture, FilmVideo } from '@phalanx/protocol';

import type { CaptureKey } from '../captures/captures.ts';
import type { UploadNotes } from '../captures/uploads.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { FindRunOfHost } from '../runs/stored-run.ts';
import type { Db } from '../../storage/db/database.ts';
import { type FilmStore, type StoredPart, createFilmStore } from './store.ts';

type PartKind = 'picture' | 'video';

/** A picture or video that is being uploaded, by the ID that its host assigned. */
export interface PartKey extends CaptureKey<PartKind> {
  readonly about: FilmPartAbout;
  /** User whose host uploads it. */
  readonly userId: string;
}

export const kindOfPart = ({ ended_at }: { ended_at?: number | null }): PartKind =>
  ended_at === undefined || ended_at === null ? 'picture' : 'video';

/** Returns the key of the blob with the picture or video of a part. */
export const blobOfPart = (
  part: Pick<StoredPart, 'run_id' | 'part_id' | 'ended_at'>,
): CaptureKey<PartKind> => ({
  recordId: part.run_id,
  screenId: part.part_id,
  kind: kindOfPart(part),
});

/** Returns a film in the form of the API. */
export function filmView(parts: readonly StoredPart[]): { pictures: FilmPicture[]; videos: FilmVideo[] } {
  const film: ReturnType<typeof filmView> = { pictures: [], videos: [] };
  for (const { number, taken_at, ended_at, width, height, size_bytes, no_video } of parts) {
    const about = { number, width, height, size_bytes };
    if (ended_at !== null) film.videos.push({ ...about, began_at: taken_at, ended_at });
    else film.pictures.push({ ...about, taken_at, ...(no_video !== null && { no_video }) });
  }
  return film;
}

interface Options {
  store: FilmStore;
  findRunOfHost: FindRunOfHost;
}

/** Creates the bookkeeping of film parts for `Uploads`. */
export function createFilmNotes({ store, findRunOfHost }: Options): UploadNotes<PartKey> {
  return {
    async expectationOf(caller, { recordId: runId, about: { number } }) {
      if ((await findRunOfHost(runId, caller)) === undefined) return 'unknown';
      return (await store.find(runId, number)) === undefined ? 'expected' : 'stored';
    },
    noteStored: ({ recordId, screenId, userId, about }, sizeBytes) => {
      const { number, taken_at, ended_at = null, width, height, no_video = null } = about;
      return store.add({
        run_id: recordId,
        part_id: screenId,
        user_id: userId,
        size_bytes: sizeBytes,
        number,
        taken_at,
        ended_at,
        width,
        height,
        no_video,
      });
    },
    notExpected: ({ recordId }) => ApiError.of('run_not_found', { run_id: recordId }),
  };
}

interface Span {
  /** Epoch ms; both ends are inclusive. */
  readonly from: number;
  readonly to: number;
  readonly limit: number;
}

/** Reads the parts of a run's film that overlap a time span. */
export interface FilmReader {
  filmOf(runId: string, span: Span): Promise<ReturnType<typeof filmView>>;
}

export function createFilmReader(db: Db): FilmReader {
  const store = createFilmStore(db);
  return {
    filmOf: async (runId, span) => filmView(await store.listBetween(runId, span)),
  };
}
