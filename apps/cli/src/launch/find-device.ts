import { deviceRoutes, type Device } from '@phalanx/protocol';

import type { ApiClient } from '../api-client.ts';
import { rememberName } from '../output/typed-names.ts';
import { readAll } from '../read-all.ts';

/** People know serial numbers, programs know IDs. What is neither is left to the server to refuse. */
export function deviceIdOf(devices: readonly Device[], text: string): string {
  const found =
    devices.find((device) => device.device_id === text) ?? devices.find((device) => device.serial === text);
  return found?.device_id ?? text;
}

export async function listDevices(api: ApiClient): Promise<Device[]> {
  const devices = await readAll(
    (query) => api.call(deviceRoutes.list, { query }),
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
