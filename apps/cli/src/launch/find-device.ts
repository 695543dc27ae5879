import { deviceRoutes, type Device } from '@phalanx/protocol';

import type { ApiClient } from '../api-client.ts';
import { rememberName } from '../output/typed-names.ts';
import { readAll } from '../read-all.ts';

/** People know serial numbers and names, programs know IDs. What is neither is left to the server to refuse. */
export function deviceIdOf(devices: readonly Device[], text: string): string {
  const found =
    devices.find((device) => device.device_id === text) ??
    devices.find((device) => device.serial === text) ??
    devices.find(({ name }) => name !== '' && name.toLowerCase() === text.toLowerCase());
  return found?.device_id ?? text;
}

/** Those that fit the selector, when one is given. */
export async function listDevices(api: ApiClient, selector?: string): Promise<Device[]> {
  const selecting = selector === undefined ? {} : { selector };
  const devices = await readAll(
    (query) => api.call(deviceRoutes.list, { query: { ...query, ...selecting } }),
    (page) => page.devices,
  );
  for (const { device_id: id, serial } of devices) rememberName(id, serial);
  return devices;
}

/** A serial number, or the ID when the device is not known. */
export const serialOf = (devices: readonly Device[], deviceId: string): string =>
  devices.find((device) => device.device_id === deviceId)?.serial ?? deviceId;

/** Whether its host holds it: it can be asked to start and to stop. */
export const isOnline = ({ state }: Device): boolean => state === 'ready' || state === 'busy';
