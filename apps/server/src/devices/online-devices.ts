import { ApiError } from '../http/api-error.ts';
import type { HostLink } from '../hosts/host-link.ts';
import type { Fleet, FleetDevice } from './fleet.ts';

export interface OnlineDevice {
  device: FleetDevice;
  link: HostLink;
}

function whyNot(fleet: Fleet, device: FleetDevice): string | undefined {
  const { state, reason } = fleet.availability(device);
  if (state !== 'ready') return `${device.id} (${state}: ${reason})`;
  return device.link?.isOpen === true ? undefined : `${device.id} (offline)`;
}

/**
 * The same for a stop: a phone that has stopped answering is no reason to leave its runs going, as long as its host can
 * be told.
 */
export function getStoppableDevices(
  fleet: Fleet,
  userId: string,
  deviceIds: readonly string[],
  hasRuns: (deviceId: string) => boolean,
): OnlineDevice[] {
  const stoppable = (device: FleetDevice): boolean => device.link?.isOpen === true && hasRuns(device.id);
  return getDevices(fleet, userId, deviceIds, (device) =>
    stoppable(device) ? undefined : whyNot(fleet, device),
  );
}

/** The devices of these IDs, all of them online and the user's; else `devices_unavailable`, which names each that is not. */
export function getOnlineDevices(fleet: Fleet, userId: string, deviceIds: readonly string[]): OnlineDevice[] {
  return getDevices(fleet, userId, deviceIds, (device) => whyNot(fleet, device));
}

function getDevices(
  fleet: Fleet,
  userId: string,
  deviceIds: readonly string[],
  obstacle: (device: FleetDevice) => string | undefined,
): OnlineDevice[] {
  const unavailable: string[] = [];
  const online: OnlineDevice[] = [];
  for (const id of new Set(deviceIds)) {
    const device = fleet.findOwn(id, userId);
    const problem = device === undefined ? `${id} (not found)` : obstacle(device);
    if (problem !== undefined) unavailable.push(problem);
    else if (device !== undefined && device.link !== null) online.push({ device, link: device.link });
  }
  if (unavailable.length === 0) return online;
  throw ApiError.of('devices_unavailable', { devices: unavailable.join('; ') });
}
