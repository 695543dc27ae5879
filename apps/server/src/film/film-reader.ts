import type { Db } from '../db/database.ts';
import { filmView } from './film-notes.ts';
import { createFilmStore } from './store.ts';

interface Span {
  /** Epoch milliseconds, both included. */
  readonly from: number;
  readonly to: number;
  readonly limit: number;
}

/** What the phones of runs showed at some time. */
export interface FilmReader {
  filmOf(runId: string, span: Span): Promise<ReturnType<typeof filmView>>;
}

export function createFilmReader(db: Db): FilmReader {
  const store = createFilmStore(db);
  return {
    filmOf: async (runId, span) => filmView(await store.listBetween(runId, span)),
  };
}
