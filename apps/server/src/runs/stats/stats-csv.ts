import { csvLine } from '../../http/requests/replies/csv.ts';
import { outcomes, type Stats } from './read-stats.ts';

/** Returns a CSV table with a row per statistic and a column per outcome. */
export function statsAsCsv({ by, stats }: Stats): string {
  const names = [
    by,
    'name',
    'runs',
    ...outcomes,
    'success_share',
    'average_run_ms',
    'average_wait_ms',
    'busy_share',
    'reasons',
  ];
  const rows = stats.map((stat) => [
    stat.key,
    stat.name,
    stat.runs,
    ...outcomes.map((name) => stat.outcomes.find(({ outcome }) => outcome === name)?.runs ?? 0),
    stat.success_share,
    stat.average_run_ms,
    stat.average_wait_ms,
    stat.busy_share,
    stat.reasons.map(({ reason, runs }) => `${reason} ${runs}`).join('; '),
  ]);
  return [names, ...rows].map(csvLine).join('');
}
