import type { FilmPicture, FilmPictureAbout } from '@phalanx/protocol';

import type { CaptureKey } from '../captures/captures.ts';
import type { UploadNotes } from '../captures/uploads.ts';
import { ApiError } from '../errors/api-error.ts';
import type { StoredRun } from '../runs/stored-run.ts';
import type { FilmStore, StoredPicture } from './store.ts';

/** A picture on its way: of a run, by the ID that its host gave it. */
export interface PictureKey extends CaptureKey<'picture'> {
  readonly about: FilmPictureAbout;
  /** Who uploads it. */
  readonly userId: string;
}

interface Options {
  store: FilmStore;
  findRun: (runId: string) => Promise<StoredRun | undefined>;
}

export const pictureView = ({ number, taken_at, width, height, size_bytes }: StoredPicture): FilmPicture => ({
  ...{ number, taken_at, width, height, size_bytes },
});

/** What is known of pictures of films, for whoever takes them in. */
export function createFilmNotes({ store, findRun }: Options): UploadNotes<PictureKey> {
  return {
    async expectationOf(userId, { recordId: runId, about: { number } }) {
      // A run belongs to the host of its phone, whoever has launched it.
      if ((await findRun(runId))?.device_owner_id !== userId) return 'unknown';
      return (await store.find(runId, number)) === undefined ? 'expected' : 'stored';
    },
    noteStored: ({ recordId, screenId, userId, about }, sizeBytes) => {
      const { number, taken_at, width, height } = about;
      return store.add({
        ...{ run_id: recordId, picture_id: screenId, user_id: userId, size_bytes: sizeBytes },
        ...{ number, taken_at, width, height },
      });
    },
    notExpected: ({ recordId }) => ApiError.of('run_not_found', { run_id: recordId }),
  };
}
