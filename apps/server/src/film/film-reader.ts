import type { FilmPicture } from '@phalanx/protocol';

import type { Db } from '../db/database.ts';
import { pictureView } from './film-notes.ts';
import { createFilmStore } from './store.ts';

interface Span {
  /** Epoch milliseconds, both included. */
  readonly from: number;
  readonly to: number;
  readonly limit: number;
}

/** What the phones of runs showed at some time. */
export interface FilmReader {
  picturesOf(runId: string, span: Span): Promise<FilmPicture[]>;
}

export function createFilmReader(db: Db): FilmReader {
  const store = createFilmStore(db);
  return {
    picturesOf: async (runId, span) => (await store.listBetween(runId, span)).map(pictureView),
  };
}
