import type { Device, deviceRoutes } from '@phalanx/protocol';
import type { Static } from 'typebox';

type DeviceQuery = Static<typeof deviceRoutes.list.query>;

const textOf = ({ device_id, serial, brand, model }: Device): string =>
  `${device_id}\n${serial}\n${brand} ${model}`.toLowerCase();

function matches(device: Device, { state, host_id, search }: DeviceQuery): boolean {
  if (state !== undefined && device.state !== state) return false;
  if (host_id !== undefined && device.host?.id.toLowerCase() !== host_id.toLowerCase()) return false;
  return search === undefined || textOf(device).includes(search.toLowerCase());
}

/** Those that fit the filters and come after the cursor, in the order in which they were first seen. */
export function selectDevices(devices: readonly Device[], query: DeviceQuery): Device[] {
  const after = query.cursor?.toLowerCase() ?? '';
  return devices
    .filter((device) => device.device_id > after && matches(device, query))
    .sort((one, other) => (one.device_id < other.device_id ? -1 : 1));
}
