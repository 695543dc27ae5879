import type { ActiveRuns } from '../runs/active-runs.ts';
import type { RunStops } from '../runs/run-stops.ts';
import type { StoredRun } from '../runs/stored-run.ts';
import { startLimitMs } from './start-limit.ts';
import type { LaunchedRun, LaunchStore } from './store.ts';

/** Runs of a launch after the wait for their start. A run without `started_at` has not begun. */
export type LaunchOutcome = readonly LaunchedRun[];

export interface StartWaits {
  readonly launches: Pick<LaunchStore, 'listRuns'>;
  readonly activeRuns: ActiveRuns;
  readonly stops: RunStops;
  /** Start timeout of a single run, in ms. */
  readonly ackTimeoutMs: number;
}

/**
 * Waits until each run has started or ended, up to the start timeout of its host. Calls off the runs that did not
 * answer in time.
 */
export async function awaitStart(waits: StartWaits, rows: readonly LaunchedRun[]): Promise<LaunchOutcome> {
  const answered = await mapAnswered(waits, rows);
  return rows.map((row) => answered.get(row.id) ?? row);
}

/** Waits for the start of a stored launch that another server or an earlier process has sent. */
export async function awaitStoredStart(waits: StartWaits, launch: string): Promise<LaunchOutcome> {
  const { launches } = waits;
  const open = (await launches.listRuns(launch)).filter(({ status }) => status === 'starting');
  const answered = await mapAnswered(waits, open);
  const isSilent = ({ id }: LaunchedRun): boolean => !answered.has(id) && open.some((run) => run.id === id);
  const rows = await launches.listRuns(launch);
  return rows.map((row) => (isSilent(row) ? { ...row, started_at: null } : row));
}

/** Waits for the runs, and returns those that have started or ended, by ID. */
async function mapAnswered(
  { activeRuns, stops, ackTimeoutMs }: StartWaits,
  runs: readonly LaunchedRun[],
): Promise<Map<string, StoredRun>> {
  const answered = new Map<string, StoredRun>();
  const ofHosts = Map.groupBy(runs, (run) => `${run.device_owner_id} ${run.host_id}`);
  const awaitOfHost = async (ofHost: readonly LaunchedRun[]): Promise<void> => {
    const runIds = ofHost.map(({ id }) => id);
    const limitMs = startLimitMs(runIds.length, ackTimeoutMs);
    const known = await activeRuns.waitFor(runIds, ({ status }) => status !== 'starting', limitMs);
    const late = await stops.callOff(runIds.filter((id) => !known.has(id)));
    for (const row of [...known.values(), ...late]) answered.set(row.id, row);
  };
  await Promise.all([...ofHosts.values()].map(awaitOfHost));
  return answered;
}
