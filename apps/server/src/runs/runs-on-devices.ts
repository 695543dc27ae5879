import { activeRunOf, type ActiveRun, type ActiveRuns } from './active-runs.ts';
import type { PlacedRuns } from './placed-runs.ts';

/** The runs that have not ended, by their phone; a phone without any may be missing. */
export type RunsOnDevices = (
  deviceIds: readonly string[],
) => Promise<ReadonlyMap<string, readonly ActiveRun[]>>;

/** Of the one server that there is. */
export const runsInMemory =
  (activeRuns: ActiveRuns): RunsOnDevices =>
  async (deviceIds) =>
    new Map(deviceIds.map((id) => [id, activeRuns.onDevice(id)]));

/** Of all servers. */
export const storedRuns =
  (placed: PlacedRuns): RunsOnDevices =>
  async (deviceIds) => {
    const rows = await placed.listOnDevices(deviceIds);
    return Map.groupBy(
      rows.map((row) => activeRunOf(row, row.epoch)),
      ({ deviceId }) => deviceId,
    );
  };
