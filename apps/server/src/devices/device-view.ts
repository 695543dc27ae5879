import type { Device } from '@phalanx/protocol';

import type { ActiveRun } from '../runs/active-runs.ts';
import type { DeviceAccess, SeenDevice } from './device-access.ts';
import type { FleetDevice } from './fleet-device.ts';

/** Launch IDs are their launcher's: with one, logs can be read. */
const runningView = (run: ActiveRun, viewerId: string, name: string): Device['running'][number] => ({
  run_id: run.runId,
  automation_id: run.launchId === null || run.userId === viewerId ? run.automationId : null,
  started_at: run.row.started_at,
  user: { id: run.userId, name },
});

function stateView(
  { state, reason, since }: FleetDevice,
  { running, lease }: Pick<Device, 'running' | 'lease'>,
): Pick<Device, 'state' | 'reason' | 'since'> {
  if (state !== 'ready' || (running.length === 0 && lease === null)) return { state, reason, since };
  const runs = `Running ${running.length} automation${running.length === 1 ? '' : 's'}`;
  const works = [
    running.length > 0 ? runs : [],
    lease === null ? [] : `Controlled by hand by ${lease.user.name}`,
  ];
  return { state: 'busy', reason: works.flat().join('. '), since };
}

/** A device as the API shows it to a user who has a part in it. `runs`: those on it that have not ended. */
export function deviceView(
  access: DeviceAccess,
  runs: readonly ActiveRun[],
  { device, role, viewerId }: SeenDevice & { viewerId: string },
): Device {
  const { shares } = access;
  const running = runs.map((run) => runningView(run, viewerId, shares.nameOf(run.userId)));
  const lease = access.leases.find(device);
  const { stored, epoch } = device;
  return {
    device_id: device.id,
    serial: device.serial,
    ...stateView(device, { running, lease }),
    confirmed_at: device.confirmedAt,
    brand: stored.brand,
    model: stored.model,
    android_version: stored.android_version,
    sdk_version: stored.sdk_version,
    screen_width: stored.screen_width,
    screen_height: stored.screen_height,
    host: { id: stored.host_id, name: stored.host_name, connected: epoch !== null },
    running,
    lease,
    role,
    owner: { id: device.ownerId, name: shares.nameOf(device.ownerId) },
  };
}
