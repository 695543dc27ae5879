import type { Fleet } from '../devices/fleet.ts';
import { getStoppableDevices } from '../devices/online-devices.ts';
import type { ActiveRun, ActiveRuns } from '../runs/active-runs.ts';
import type { RunStops } from '../runs/run-stops.ts';

export interface Stopper {
  fleet: Fleet;
  activeRuns: ActiveRuns;
  stops: RunStops;
}

/**
 * Ends the runs on these devices that are meant, and returns how many they were. Throws `devices_unavailable` before
 * anything is stopped, or `stop_not_confirmed`.
 */
export async function stopOnDevices(
  { fleet, activeRuns, stops }: Stopper,
  userId: string,
  deviceIds: readonly string[],
  isMeant: (run: ActiveRun) => boolean,
): Promise<number> {
  const meantOn = (deviceId: string): ActiveRun[] => activeRuns.onDevice(deviceId).filter(isMeant);
  const devices = getStoppableDevices(fleet, userId, deviceIds, (id) => meantOn(id).length > 0);
  const meant = devices.flatMap(({ device }) => meantOn(device.id));
  await stops.stop(meant);
  return meant.length;
}
