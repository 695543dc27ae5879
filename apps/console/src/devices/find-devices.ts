import type { Device } from '@phalanx/protocol';

import { stateLooks, type DeviceState } from './device-state.tsx';
import { deviceName } from './device-name.ts';
import type { FleetSearch } from './fleet-search.ts';

const matchesText = (device: Device, words: readonly string[]): boolean => {
  const text = [deviceName(device), device.serial, device.device_id, device.reason, device.host?.name ?? '']
    .join(' ')
    .toLowerCase();
  return words.every((word) => text.includes(word));
};

export function findDevices(devices: readonly Device[], { q = '', state, host }: FleetSearch): Device[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return devices.filter(
    (device) =>
      (state === undefined || device.state === state) &&
      (host === undefined || device.host?.id === host) &&
      matchesText(device, words),
  );
}

/** How many are in each state that somebody is in, in the order of the states. */
export function countStates(devices: readonly Device[]): [DeviceState, number][] {
  const counts = new Map<DeviceState, number>();
  for (const { state } of devices) counts.set(state, (counts.get(state) ?? 0) + 1);
  const order = Object.keys(stateLooks);
  return [...counts].toSorted(([one], [other]) => order.indexOf(one) - order.indexOf(other));
}
