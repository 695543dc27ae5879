import type { DeviceOutcome, ProjectRole } from '@phalanx/protocol';
import { editors, type ProjectPeople } from '../../code/projects/project-access.ts';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import type { RunsByDevice } from '../../fleet/devices/device-view.ts';
import type { FleetDevice } from '../../fleet/devices/fleet-device.ts';
import { getStoppableDevices, nameOf } from '../../fleet/devices/online-devices.ts';
import type { AuditEvent } from '../../http/requests/audit-event.ts';
import type { Principal } from '../../http/requests/principal.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { boundedList } from '../../kernel/errors/bounded-list.ts';
import type { ActiveRun } from '../runs/active-runs.ts';
import type { RunStops } from '../runs/run-stops.ts';

export interface Stopper {
  devices: DeviceAccess;
  activeRunRows: RunsByDevice<ActiveRun>;
  stops: RunStops;
}

/**
 * Returns a predicate for the runs on a device that the user may stop. The device's owner may stop every run; others
 * may stop the runs that they launched, and runs of projects that they may launch.
 */
export async function whatMayBeStopped(
  { devices, activeRunRows }: Stopper,
  people: ProjectPeople,
  { deviceId, userId }: { deviceId: string; userId: string },
): Promise<(run: ActiveRun) => boolean> {
  if ((await devices.find(deviceId, userId))?.role === 'owner') return () => true;
  const runs = (await activeRunRows.mapByDevice([deviceId])).get(deviceId) ?? [];
  const projectIds = new Set(runs.map((run) => run.automationId));
  for (const id of projectIds) if (!isEditor((await people.of(id)).get(userId))) projectIds.delete(id);
  return (run) => run.userId === userId || (run.launchId === null && projectIds.has(run.automationId));
}

const isEditor = (role: ProjectRole | undefined): boolean => role !== undefined && editors.includes(role);

/**
 * Stops the runs on these devices that match `isMeant`. Returns their number, and the outcome per device. Throws
 * `devices_unavailable` before anything is stopped, or `stop_not_confirmed`.
 */
export async function stopOnDevices(
  { devices: access, activeRunRows, stops }: Stopper,
  { principal: { userId }, auditEvent }: { principal: Principal; auditEvent: AuditEvent },
  deviceIds: readonly string[],
  isMeant: (run: ActiveRun) => boolean,
): Promise<{ count: number; devices: DeviceOutcome[] }> {
  const before = await activeRunRows.mapByDevice(deviceIds);
  const hasRuns = (id: string): boolean => before.get(id)?.some(isMeant) === true;
  const online = await getStoppableDevices(access, userId, deviceIds, hasRuns);
  const running = await activeRunRows.mapByDevice(online.map(({ device }) => device.id));
  const meant = online.flatMap(({ device }) => running.get(device.id)?.filter(isMeant) ?? []);
  describeAuditEvent(auditEvent, meant, online);
  const unconfirmed = await stops.stop(meant);
  const stoppedOn = Map.groupBy(meant, ({ deviceId }) => deviceId);
  const lateOn = Map.groupBy(unconfirmed, ({ deviceId }) => deviceId);
  const seconds = stops.timeoutMs / 1000;
  const devices = online.map(({ device }) => {
    const late = lateOn.get(device.id);
    if (late !== undefined) return notConfirmed(device, late, seconds);
    return rowOf(device, stoppedOn.get(device.id) ?? []);
  });
  if (unconfirmed.length === 0) return { count: meant.length, devices };
  const runs = boundedList(
    unconfirmed.map(({ runId }) => runId),
    ', ',
  );
  throw ApiError.of('stop_not_confirmed', { seconds, runs }, { devices });
}

/** Fills in one audit event for all devices; none when nothing runs. */
function describeAuditEvent(
  auditEvent: AuditEvent,
  meant: readonly ActiveRun[],
  on: readonly { device: FleetDevice }[],
): void {
  auditEvent.action = 'stop';
  const [run] = meant;
  const device = on.find(({ device: { id } }) => id === run?.deviceId)?.device;
  if (run === undefined || device === undefined) return;
  const people = meant.flatMap(({ userId, deviceOwnerId }) => [userId, deviceOwnerId]);
  const details = { runs: meant.length, first_runs: meant.slice(0, 10).map(({ runId }) => runId) };
  auditEvent.on({ type: 'device', id: device.id, name: device.serial }, people, details);
}

/** Returns the ID of the newest run. Run IDs are UUIDv7, so they sort by creation time. */
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
  const reason = `${nameOf(device)}: the end was not confirmed within ${seconds} s; the stop is still requested.`;
  const code = 'stop_not_confirmed';
  return { device_id: device.id, outcome: 'not_acknowledged', code, reason, run_id: newestOf(late) };
}
