import { ApiError } from '../http/api-error.ts';
import type { HostLink } from '../hosts/host-link.ts';
import type { ActiveRun, ActiveRuns } from './active-runs.ts';
import type { RunHistory } from './run-history.ts';

interface StopRunsOptions {
  store: Pick<RunHistory, 'requestStop'>;
  activeRuns: ActiveRuns;
  /** How long hosts have to confirm the end. */
  timeoutMs: number;
}

/**
 * Ends runs of one host. Resolves when they have ended. The wish is stored first: a host that is cut off in between
 * is told again when it is back. Throws `stop_not_confirmed` after the time limit.
 */
export async function stopRuns(
  { store, activeRuns, timeoutMs }: StopRunsOptions,
  link: HostLink,
  runs: readonly ActiveRun[],
): Promise<void> {
  if (runs.length === 0) return;
  const runIds = runs.map((run) => run.runId);
  // Before anything waits: a host that comes back meanwhile must hear of it.
  for (const run of runs) run.stopRequested = true;
  await store.requestStop(runIds);
  link.send({ type: 'stop', run_ids: runIds });
  const unconfirmed = await activeRuns.waitFor(runIds, (run) => run === undefined, timeoutMs);
  if (unconfirmed.length === 0) return;
  throw ApiError.of('stop_not_confirmed', { seconds: timeoutMs / 1000, runs: unconfirmed.join(', ') });
}
