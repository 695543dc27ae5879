import type { DeviceOutcome } from '@phalanx/protocol';

import type { Fleet, FleetDevice } from '../devices/fleet.ts';
import { getStoppableDevices, nameOf } from '../devices/online-devices.ts';
import { ApiError } from '../http/api-error.ts';
import { boundedList } from '../http/bounded-list.ts';
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
): Promise<{ count: number; devices: DeviceOutcome[] }> {
  const meantOn = (deviceId: string): ActiveRun[] => activeRuns.onDevice(deviceId).filter(isMeant);
  const online = getStoppableDevices(fleet, userId, deviceIds, (id) => meantOn(id).length > 0);
  const meant = online.flatMap(({ device }) => meantOn(device.id));
  const unconfirmed = await stops.stop(meant);
  const runsOn = Map.groupBy(meant, ({ deviceId }) => deviceId);
  const lateOn = Map.groupBy(unconfirmed, ({ deviceId }) => deviceId);
  const seconds = stops.timeoutMs / 1000;
  const devices = online.map(({ device }) => {
    const late = lateOn.get(device.id);
    if (late !== undefined) return notConfirmed(device, late, seconds);
    return rowOf(device, runsOn.get(device.id) ?? []);
  });
  if (unconfirmed.length === 0) return { count: meant.length, devices };
  const runs = boundedList(
    unconfirmed.map(({ runId }) => runId),
    ', ',
  );
  throw ApiError.of('stop_not_confirmed', { seconds, runs }, { devices });
}

/** UUIDv7s of one process: their order is that of creation. */
const newestOf = (runs: readonly ActiveRun[]): string | null =>
  runs
    .map(({ runId }) => runId)
    .sort()
    .at(-1) ?? null;

function rowOf({ id }: FleetDevice, runs: readonly ActiveRun[]): DeviceOutcome {
  const outcome = runs.length === 0 ? 'nothing_to_stop' : 'stopped';
  return { device_id: id, outcome, code: null, reason: null, run_id: newestOf(runs) };
}

function notConfirmed(device: FleetDevice, late: readonly ActiveRun[], seconds: number): DeviceOutcome {
  const reason = `${nameOf(device)}: the end was not confirmed within ${seconds} s; the stop stays requested.`;
  const code = 'stop_not_confirmed';
  return { device_id: device.id, outcome: 'not_acknowledged', code, reason, run_id: newestOf(late) };
}
