import { statsRoutes } from '@phalanx/protocol';

import { addBackgroundJob } from '../background-job.ts';
import type { Context } from '../context.ts';
import type { DeviceAccess } from '../devices/device-access.ts';
import { addRawRoute, addRoute } from '../http/route.ts';
import type { Runs } from '../runs/feature.ts';
import { dayMs, readStats } from './read-stats.ts';
import { statsAsCsv } from './stats-as-csv.ts';
import { createStatsStore } from './store.ts';

const hourMs = 60 * 60_000;
const keptDays = 400;

/** `GET /stats` · `GET /stats/export` */
export function serveStats(
  context: Context,
  { devices, runs }: { devices: DeviceAccess; runs: Pick<Runs, 'access'> },
): void {
  const { app, clock, database } = context;
  const store = createStatsStore(database);
  const sources = { store, devices, runAccess: runs.access, clock };

  addRoute(app, statsRoutes.read, ({ principal, query }) => readStats(sources, principal, query));

  addRawRoute(app, statsRoutes.export, async ({ principal, query }, reply) => {
    const stats = await readStats(sources, principal, query);
    return reply
      .type('text/csv; charset=utf-8')
      .header('content-disposition', `attachment; filename="runs-by-${stats.by}.csv"`)
      .send(statsAsCsv(stats));
  });

  addBackgroundJob(context, {
    name: 'delete old counts of runs',
    everyMs: hourMs,
    atStart: true,
    work: () => store.deleteBefore(Math.floor(clock.now() / dayMs) - keptDays),
  });
}
