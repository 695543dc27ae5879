import type { Captures } from '../captures/captures.ts';
import { Uploads } from '../captures/uploads.ts';
import type { Context } from '../../http/context.ts';
import type { RecordFigures } from '../../http/health/metrics.ts';
import type { Runs } from '../runs/feature.ts';
import { createFilmNotes } from './film-notes.ts';
import { createFilmStore } from './store.ts';
import { addFilmRoutes } from './routes.ts';

interface FilmDependencies {
  runs: Runs;
  captures: Captures;
  figures: RecordFigures;
}

/**
 * Serves the films of runs. Their pictures and videos are stored beside the captures of records, and deleted with the
 * run.
 */
export async function serveFilms(
  { app, database, limits }: Context,
  { runs, captures, figures }: FilmDependencies,
): Promise<void> {
  const store = createFilmStore(database);
  const uploads = new Uploads({
    ...createFilmNotes({ store, findRunOfHost: runs.store.findOfHost }),
    captures,
    limits,
    figures,
  });
  await addFilmRoutes(app, { store, captures, uploads, runs });
}
