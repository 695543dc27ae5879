import type { Captures } from '../captures/captures.ts';
import { Uploads } from '../captures/uploads.ts';
import type { Context } from '../../http/context.ts';
import type { RecordFigures } from '../../http/health/metrics.ts';
import type { Runs } from '../runs/feature.ts';
import { createRunFileStore } from './store.ts';
import { createRunFileNotes } from './run-file-notes.ts';
import { addRunFileRoutes } from './routes.ts';

interface RunFileDependencies {
  runs: Runs;
  captures: Captures;
  figures: RecordFigures;
}

/**
 * Serves the files that runs attach. Their contents are stored beside the captures of records, and deleted with the
 * run.
 */
export async function serveRunFiles(
  { app, database, clock, limits }: Context,
  { runs, captures, figures }: RunFileDependencies,
): Promise<void> {
  const store = createRunFileStore(database);
  const uploads = new Uploads({
    ...createRunFileNotes({ store, findRunOfHost: runs.store.findOfHost, clock }),
    captures,
    limits,
    figures,
  });
  await addRunFileRoutes(app, { store, captures, uploads, runs });
}
