import type { Captures } from '../captures/captures.ts';
import { Uploads } from '../captures/uploads.ts';
import type { Context } from '../context.ts';
import type { RecordFigures } from '../health/metrics.ts';
import type { Runs } from '../runs/feature.ts';
import { createFilmNotes } from './film-notes.ts';
import { addFilmRoutes } from './routes.ts';
import { createFilmStore } from './store.ts';

interface FilmDependencies {
  runs: Runs;
  captures: Captures;
  figures: RecordFigures;
}

/** The films of runs. Their pictures and videos are beside the captures of records, and go with their run. */
export async function serveFilms(
  { app, database, limits }: Context,
  { runs, captures, figures }: FilmDependencies,
): Promise<void> {
  const store = createFilmStore(database);
  const uploads = new Uploads({
    ...createFilmNotes({ store, findRun: runs.store.find }),
    captures,
    limits,
    figures,
  });
  await addFilmRoutes(app, { store, captures, uploads, runs });
}
