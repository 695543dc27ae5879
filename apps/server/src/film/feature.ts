import type { Captures } from '../captures/captures.ts';
import { Uploads } from '../captures/uploads.ts';
import type { Context } from '../context.ts';
import type { RecordFigures } from '../health/metrics.ts';
import type { Runs } from '../runs/feature.ts';
import { createFilmNotes } from './film-notes.ts';
import { addFilmRoutes } from './routes.ts';
import { createFilmStore } from './store.ts';

interface FilmNeighbours {
  runs: Runs;
  captures: Captures;
  figures: RecordFigures;
}

/** The films of runs. Their pictures are beside the captures of records, and go with their run. */
export async function serveFilms(
  { app, database, limits }: Context,
  { runs, captures, figures }: FilmNeighbours,
): Promise<void> {
  const store = createFilmStore(database);
  const uploads = new Uploads({
    ...createFilmNotes({ store, findRun: runs.store.find }),
    captures,
    keepRoom: (userId, sizeBytes) => limits.keepRoom('capture_bytes', userId, sizeBytes),
    onStored: ({ kind }, sizeBytes) => {
      figures.captures.inc({ kind });
      figures.captureBytes.inc(sizeBytes);
    },
  });
  await addFilmRoutes(app, { store, captures, uploads, runs });
}
