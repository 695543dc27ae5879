import { addBackgroundJob } from '../../../storage/background-job.ts';
import type { Context } from '../../../http/context.ts';
import type { AutomationAccess } from '../access-store.ts';
import { PrintReader } from '../groups/prints/print-process.ts';
import { createDriftStore } from './drift-store.ts';
import { type GoldenTree, createGoldenPrints } from './golden-prints.ts';
import { addDriftRoutes } from './routes.ts';
import { dayMs } from '@phalanx/timing/durations';

export interface DriftDependencies {
  access: AutomationAccess;
  /** Lists the golden screens of a project's saved code. */
  listGolden: (project: { projectId: string; ownerId: string }) => Promise<GoldenTree[]>;
}

const versionsKeptMs = 180 * dayMs;

/** Serves the outcomes of runs with each version of an app. */
export function serveDrift(context: Context, { access, listGolden }: DriftDependencies): void {
  const { app, clock, confinement, database } = context;
  const store = createDriftStore(database);
  const reader = new PrintReader(confinement);
  app.addHook('onClose', () => reader.close());
  addDriftRoutes(app, { store, access, listGolden, printsOf: createGoldenPrints(reader) });
  addBackgroundJob(context, {
    name: 'forget versions of apps',
    everyMs: dayMs,
    atStart: true,
    work: async () => {
      while ((await store.deleteSome(clock.now() - versionsKeptMs)) > 0);
    },
  });
}
