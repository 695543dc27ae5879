import type { Fleet } from '../devices/fleet.ts';
import { getStoppableDevices } from '../devices/online-devices.ts';
import type { ActiveRun, ActiveRuns } from '../runs/active-runs.ts';
import { stopRuns } from '../runs/stop-runs.ts';
import type { RunHistory } from '../runs/run-history.ts';

export interface Stopper {
  fleet: Fleet;
  activeRuns: ActiveRuns;
  runs: RunHistory;
  /** How long hosts have to confirm the end. */
  stopTimeoutMs: number;
}

/**
 * Ends the runs on these devices that are meant, and returns how many they were. Throws `devices_unavailable` before
 * anything is stopped, or `stop_not_confirmed`.
 */
export async function stopOnDevices(
  { fleet, activeRuns, runs, stopTimeoutMs }: Stopper,
  userId: string,
  deviceIds: readonly string[],
  isMeant: (run: ActiveRun) => boolean,
): Promise<number> {
  const hasRuns = (deviceId: string): boolean => activeRuns.onDevice(deviceId).some(isMeant);
  const online = getStoppableDevices(fleet, userId, deviceIds, hasRuns);
  const limits = { store: runs, activeRuns, timeoutMs: stopTimeoutMs };
  let stopped = 0;
  const stops = [...Map.groupBy(online, ({ link }) => link)].map(([link, onLink]) => {
    const meant = onLink.flatMap(({ device }) => activeRuns.onDevice(device.id)).filter(isMeant);
    stopped += meant.length;
    return stopRuns(limits, link, meant);
  });
  const outcomes = await Promise.allSettled(stops);
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  return stopped;
}
