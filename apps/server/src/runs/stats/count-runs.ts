import { Counter, Histogram } from 'prom-client';

import type { Metrics } from '../../http/health/metrics.ts';
import type { Runs } from '../runs/feature.ts';
import { verdictOf } from '../runs/run-verdict.ts';
import { runView } from '../runs/stored-run.ts';

/** Counts the runs whose ends this server stores. A run that was lost and later ended counts as both. */
export function countRuns(runs: Pick<Runs, 'onChange'>, { registry }: Pick<Metrics, 'registry'>): void {
  const registers = [registry];
  const ended = new Counter({
    name: 'phalanx_runs_ended_total',
    help: 'Runs that have ended, by outcome and reason',
    labelNames: ['outcome', 'reason'],
    registers,
  });
  const durations = new Histogram({
    name: 'phalanx_run_duration_seconds',
    help: 'Duration of runs, from the first line of code to the end',
    labelNames: ['outcome'],
    buckets: [1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600],
    registers,
  });
  runs.onChange((rows) => {
    for (const row of rows) {
      if (row.ended_at === null) continue;
      const outcome = runView(row).outcome ?? row.status;
      ended.inc({ outcome, reason: verdictOf(row) });
      if (row.started_at !== null) durations.observe({ outcome }, (row.ended_at - row.started_at) / 1000);
    }
  });
}
