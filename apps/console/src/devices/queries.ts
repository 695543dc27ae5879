import type { Device } from '@phalanx/protocol';
import { queryOptions, useQuery } from '@tanstack/react-query';

import { call } from '../api/call.ts';
import { readAll } from '../api/read-all.ts';

/** All phones that the caller sees; events keep them current. */
export const devicesQuery = queryOptions({
  queryKey: ['devices'],
  queryFn: ({ signal }): Promise<Device[]> =>
    readAll(async (cursor) => {
      const query = { limit: 1000, ...(cursor === undefined ? {} : { cursor }) };
      const { devices, next_cursor: next } = await call('GET /api/v2/devices', { query }, { signal });
      return { rows: devices, next };
    }),
  staleTime: 60_000,
});

export function useDevice(deviceId: string): Device | undefined {
  return useQuery({ ...devicesQuery, select: (all) => all.find((one) => one.device_id === deviceId) }).data;
}

/** Names by ID, for lists that only have IDs. */
export function useDevicesById(): ReadonlyMap<string, Device> {
  return useQuery({ ...devicesQuery, select: byId }).data ?? noDevices;
}

const noDevices = new Map<string, Device>();
const byId = (devices: readonly Device[]): Map<string, Device> =>
  new Map(devices.map((device) => [device.device_id, device]));
