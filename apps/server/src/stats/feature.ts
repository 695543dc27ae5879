import { statsRoutes } from '@phalanx/protocol';

import { addBackgroundJob } from '../background-job.ts';
import type { Context } from '../context.ts';
import type { DeviceAccess } from '../devices/device-access.ts';
import { addRawRoute, addRoute } from '../http/route.ts';
import type { Runs } from '../runs/feature.ts';
import { dayMs, readStats, type Stats } from './read-stats.ts';
import { createStatsStore } from './store.ts';
import { csvLine } from '../http/replies/csv.ts';

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

const outcomes = ['succeeded', 'out_of_steps', 'failed', 'timed_out', 'lost', 'stopped'] as const;

/** A row for each of them, with a column for each outcome. */
function statsAsCsv({ by, stats }: Stats): string {
  const names = [
    ...[by, 'name', 'runs', ...outcomes, 'success_share', 'average_run_ms', 'average_wait_ms'],
    ...['busy_share', 'reasons'],
  ];
  const rows = stats.map((stat) => [
    ...[stat.key, stat.name, stat.runs],
    ...outcomes.map((name) => stat.outcomes.find(({ outcome }) => outcome === name)?.runs ?? 0),
    ...[stat.success_share, stat.average_run_ms, stat.average_wait_ms, stat.busy_share],
    stat.reasons.map(({ reason, runs }) => `${reason} ${runs}`).join('; '),
  ]);
  return [names, ...rows].map(csvLine).join('');
}
