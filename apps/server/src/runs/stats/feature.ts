import { statsRoutes } from '@phalanx/protocol';
import { addBackgroundJob } from '../../storage/background-job.ts';
import type { Context } from '../../http/context.ts';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import type { Metrics } from '../../http/health/metrics.ts';
import { addRawRoute, addRoute } from '../../http/requests/route.ts';
import type { Runs } from '../runs/feature.ts';
import { countRuns } from './count-runs.ts';
import { createStatsStore } from './store.ts';
import { readStats } from './read-stats.ts';
import { statsAsCsv } from './stats-csv.ts';
import { dayMs, hourMs } from '@phalanx/timing/durations';

const keptDays = 400;

interface StatsDependencies {
  devices: DeviceAccess;
  runs: Pick<Runs, 'access' | 'onChange'>;
  metrics: Metrics;
}

/** `GET /stats` · `GET /stats/export` */
export function serveStats(context: Context, { devices, runs, metrics }: StatsDependencies): void {
  const { app, clock, database } = context;
  countRuns(runs, metrics);
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
