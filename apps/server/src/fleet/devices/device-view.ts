import type { Device } from '@phalanx/protocol';

import type { DeviceAccess, SeenDevice } from './device-access.ts';
import { type FleetDevice, warningsOf } from './fleet-device.ts';

/** Active run, reduced to what the view of its device shows. */
interface RunOnDevice {
  readonly runId: string;
  readonly userId: string;
  /** The caller's launch ID; null for a project. */
  readonly launchId: string | null;
  readonly automationId: string;
  readonly row: {
    readonly started_at: number | null;
    readonly created_at: number;
    readonly project_name: string | null;
  };
}

/** Active runs of devices, for hosts on any server. */
export interface RunsByDevice<Run = RunOnDevice> {
  /** Maps the devices to their runs; devices without runs are missing. */
  mapByDevice(deviceIds: readonly string[]): Promise<ReadonlyMap<string, readonly Run[]>>;
}

/** Hides launch IDs from everyone but the launcher, because a launch ID gives access to logs. */
const runningView = (run: RunOnDevice, viewerId: string, name: string): Device['running'][number] => ({
  run_id: run.runId,
  automation_id: run.launchId === null || run.userId === viewerId ? run.automationId : null,
  started_at: run.row.started_at,
  user: { id: run.userId, name },
});

const maxNamed = 3;

/** Describes the runs on a device. Project names are shown only to the user who launched them. */
function runningText(
  runs: readonly RunOnDevice[],
  viewerId: string,
  nameOf: (userId: string) => string,
): string {
  const named = runs
    .slice(0, maxNamed)
    .map(({ userId, row }) =>
      userId === viewerId ? (row.project_name ?? 'direct code') : `an automation of ${nameOf(userId)}`,
    );
  const others = runs.length - named.length;
  return `Running ${named.join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
}

function stateView(
  { state, reason, since }: FleetDevice,
  runs: readonly RunOnDevice[],
  { lease, running }: { lease: Device['lease']; running: string },
): Pick<Device, 'state' | 'reason' | 'since'> {
  if (state !== 'ready' || (runs.length === 0 && lease === null)) return { state, reason, since };
  const works = [
    runs.length > 0 ? running : [],
    lease === null ? [] : `Controlled by hand by ${lease.user.name}`,
  ];
  return { state: 'busy', reason: works.flat().join('. '), since: Math.max(since, busySince(runs, lease)) };
}

/** Returns the time when the oldest run or lease that keeps a phone busy began, epoch ms. */
function busySince(runs: readonly RunOnDevice[], lease: Device['lease']): number {
  const began = runs.map(({ row }) => row.started_at ?? row.created_at);
  return Math.min(...began, ...(lease === null ? [] : [lease.since]));
}

/** Returns the API view of a device for a user with access to it. `runs`: active runs on the device. */
export function deviceView(
  access: DeviceAccess,
  runs: readonly RunOnDevice[],
  { device, role, viewerId }: SeenDevice & { viewerId: string },
): Device {
  const { shares } = access;
  const running = runs.map((run) => runningView(run, viewerId, shares.nameOf(run.userId)));
  const lease = access.leases.find(device);
  const { stored } = device;
  return {
    device_id: device.id,
    serial: device.serial,
    name: access.labels.nameOf(device),
    labels: access.labels.labelsOf(device),
    ...stateView(device, runs, { lease, running: runningText(runs, viewerId, (id) => shares.nameOf(id)) }),
    warnings: warningsOf(stored),
    battery_percent: stored.battery_percent,
    confirmed_at: device.confirmedAt,
    brand: stored.brand,
    model: stored.model,
    android_version: stored.android_version,
    sdk_version: stored.sdk_version,
    screen_width: stored.screen_width,
    screen_height: stored.screen_height,
    host: { id: stored.host_id, name: stored.host_name, connected: device.isHostConnected },
    running,
    lease,
    role,
    accepted: shares.workRoleOf(viewerId, device) === role,
    owner: { id: device.ownerId, name: shares.nameOf(device.ownerId) },
  };
}
