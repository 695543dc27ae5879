import type { Device } from '@phalanx/protocol';

import type { ActiveRun, ActiveRuns } from '../runs/active-runs.ts';
import type { DeviceAccess, SeenDevice } from './device-access.ts';
import type { Fleet, FleetDevice } from './fleet.ts';

/** Launch IDs are their launcher's: with one, logs can be read. */
const runningView = (run: ActiveRun, viewerId: string, name: string): Device['running'][number] => ({
  run_id: run.runId,
  automation_id: run.launchId === null || run.userId === viewerId ? run.automationId : null,
  started_at: run.row.started_at,
  user: { id: run.userId, name },
});

function stateView(
  fleet: Fleet,
  device: FleetDevice,
  running: number,
): Pick<Device, 'state' | 'reason' | 'since'> {
  const { state, reason, since } = fleet.availability(device);
  if (state !== 'ready' || running === 0) return { state, reason, since };
  return { state: 'busy', reason: `Running ${running} automation${running === 1 ? '' : 's'}`, since };
}

/** A device as the API shows it to a user who has a part in it. */
export function deviceView(
  { fleet, shares }: DeviceAccess,
  activeRuns: ActiveRuns,
  { device, role, viewerId }: SeenDevice & { viewerId: string },
): Device {
  const running = activeRuns.onDevice(device.id);
  const { stored, link } = device;
  return {
    device_id: device.id,
    serial: device.serial,
    ...stateView(fleet, device, running.length),
    confirmed_at: device.confirmedAt,
    brand: stored.brand,
    model: stored.model,
    android_version: stored.android_version,
    sdk_version: stored.sdk_version,
    screen_width: stored.screen_width,
    screen_height: stored.screen_height,
    host: { id: stored.host_id, name: stored.host_name, connected: link !== null },
    running: running.map((run) => runningView(run, viewerId, shares.nameOf(run.userId))),
    role,
    owner: { id: device.ownerId, name: shares.nameOf(device.ownerId) },
  };
}
