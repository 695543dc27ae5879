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

/** The devices of these IDs, all of them online and the user's; else `devices_unavailable`, which names each that is not. */
export function getOnlineDevices(fleet: Fleet, userId: string, deviceIds: readonly string[]): OnlineDevice[] {
  const unavailable: string[] = [];
  const online: OnlineDevice[] = [];
  for (const id of new Set(deviceIds)) {
    const device = fleet.findOwn(id, userId);
    const problem = device === undefined ? `${id} (not found)` : whyNot(fleet, device);
    if (problem !== undefined) unavailable.push(problem);
    else if (device !== undefined && device.link !== null) online.push({ device, link: device.link });
  }
  if (unavailable.length === 0) return online;
  throw ApiError.of('devices_unavailable', { devices: unavailable.join('; ') });
}
