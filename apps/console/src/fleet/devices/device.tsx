import type { Device, Pool } from '@phalanx/protocol';
import { queryOptions, useQuery, keepPreviousData } from '@tanstack/react-query';

import { Mark, type MarkLook } from '../../parts/mark.tsx';
import { call, readAll } from '../../api/call.ts';
import { FilterSelect } from '../../parts/field.tsx';

export type DeviceState = Device['state'];

export const stateLooks: Record<DeviceState, MarkLook> = {
  ready: { tone: 'ready', glyph: '●', word: 'ready' },
  busy: { tone: 'busy', glyph: '▶', word: 'busy' },
  connecting: { tone: 'waiting', glyph: '◌', word: 'connecting' },
  booting: { tone: 'waiting', glyph: '◌', word: 'booting' },
  unauthorized: { tone: 'act', glyph: '▲', word: 'unauthorized' },
  no_permissions: { tone: 'act', glyph: '▲', word: 'no permissions' },
  locked: { tone: 'act', glyph: '▲', word: 'locked' },
  resting: { tone: 'waiting', glyph: '◌', word: 'resting' },
  recovery: { tone: 'act', glyph: '▲', word: 'recovery' },
  sideload: { tone: 'act', glyph: '▲', word: 'sideload' },
  bootloader: { tone: 'act', glyph: '▲', word: 'bootloader' },
  helper_failed: { tone: 'broken', glyph: '◆', word: 'helper failed' },
  unresponsive: { tone: 'broken', glyph: '◆', word: 'unresponsive' },
  offline: { tone: 'offline', glyph: '⊘', word: 'offline' },
};

export const DeviceStateMark = ({ state }: { state: DeviceState }) => <Mark {...stateLooks[state]} />;

/** Whether it takes a launch now. */
export const isReady = ({ state }: Pick<Device, 'state'>): boolean => state === 'ready' || state === 'busy';

/** Whether somebody has to do something about it. */
export const needsAttention = ({ state, warnings }: Pick<Device, 'state' | 'warnings'>): boolean =>
  warnings.length > 0 || ['act', 'broken', 'offline'].includes(stateLooks[state].tone);

/** Remarks on a phone besides its state. */
export const reasonShown = ({
  state,
  reason,
  warnings,
  accepted,
}: Pick<Device, 'state' | 'reason' | 'warnings' | 'accepted'>): string =>
  [
    ...(accepted ? [] : ['Shared with you, not accepted yet.']),
    ...(state === 'ready' ? [] : [reason]),
    ...warnings.map((warning) => warning.reason),
  ].join(' ');

const capitalized = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/**
 * Name of a phone for people: the name it was given, else maker and model. Some makers write their own names in
 * small letters.
 */
export const deviceName = ({
  name,
  brand,
  model,
  serial,
}: Pick<Device, 'name' | 'brand' | 'model' | 'serial'>): string =>
  name || [capitalized(brand), model].filter(Boolean).join(' ') || serial;

/** Name of its box in a list. */
export const selectName = (device: Device): string => `${deviceName(device)} ${device.serial}`;

export const labelsText = ({ labels }: Pick<Device, 'labels'>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');

/** The name, with the serial number where another phone has the same name. */
export function distinctName(device: Device, all: Iterable<Device>): string {
  const name = deviceName(device);
  for (const other of all)
    if (other.device_id !== device.device_id && deviceName(other) === name)
      return `${name} · ${device.serial}`;
  return name;
}

/** The same for all of them, by ID. */
export function distinctNames(devices: Iterable<Device>): ReadonlyMap<string, string> {
  const all = [...devices].map((device) => ({ device, name: deviceName(device) }));
  const counts = new Map<string, number>();
  for (const { name } of all) counts.set(name, (counts.get(name) ?? 0) + 1);
  return new Map(
    all.map(({ device: { device_id: id, serial }, name }) => [
      id,
      (counts.get(name) ?? 0) > 1 ? `${name} · ${serial}` : name,
    ]),
  );
}

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
  // Removed phones alone have no event.
  refetchInterval: 60_000,
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

interface DeviceSelectProps {
  value: string | undefined;
  /** An empty text: any phone. */
  onChange: (deviceId: string) => void;
}

/** A phone that is gone still has what is filtered by it. */
export function DeviceSelect({ value, onChange }: DeviceSelectProps) {
  const { data: devices = [] } = useQuery(devicesQuery);
  const options = devices.map((device) => ({
    value: device.device_id,
    label: `${deviceName(device)} · ${device.serial}`,
  }));
  return <FilterSelect label="Phone" value={value} options={options} onChange={onChange} />;
}

/** The caller's saved selectors. */
export const poolsQuery = queryOptions({
  queryKey: ['pools'],
  queryFn: ({ signal }): Promise<Pool[]> =>
    readAll(async (cursor) => {
      const query = { limit: 1000, ...(cursor === undefined ? {} : { cursor }) };
      const { pools, next_cursor: next } = await call('GET /api/v2/pools', { query }, { signal });
      return { rows: pools, next };
    }),
});

interface Selected {
  /** Undefined: no selector, or none that can be read. */
  readonly ids: ReadonlySet<string> | undefined;
  /** Why the service refuses the selector. */
  readonly problem: string | undefined;
}

/** States change, and selectors may ask for them. */
const refreshMs = 10_000;

/** The phones that a selector means, as the service says. */
export function useSelected(selector: string | undefined): Selected {
  const { data, error } = useQuery({
    queryKey: ['selected', selector],
    queryFn: async ({ signal }): Promise<ReadonlySet<string>> => {
      const devices = await readAll(async (cursor) => {
        const query = { limit: 1000, selector: selector ?? '', ...(cursor === undefined ? {} : { cursor }) };
        const page = await call('GET /api/v2/devices', { query }, { signal });
        return { rows: page.devices, next: page.next_cursor };
      });
      return new Set(devices.map((device) => device.device_id));
    },
    enabled: selector !== undefined,
    refetchInterval: refreshMs,
    placeholderData: keepPreviousData,
    retry: false,
  });
  if (selector === undefined) return { ids: undefined, problem: undefined };
  return error === null ? { ids: data, problem: undefined } : { ids: undefined, problem: error.message };
}
