import type { Device, Pool } from '@phalanx/protocol';
import { queryOptions, useQuery, keepPreviousData } from '@tanstack/react-query';

import { Mark, type MarkLook } from '../../parts/mark.tsx';
import { readAll } from '@phalanx/client/read-all';
import { call } from '../../api/call.ts';
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

/** Whether the phone can take a launch now. */
export const isReady = ({ state }: Pick<Device, 'state'>): boolean => state === 'ready' || state === 'busy';

/** Whether the phone needs a person's attention. */
export const needsAttention = ({ state, warnings }: Pick<Device, 'state' | 'warnings'>): boolean =>
  warnings.length > 0 || ['act', 'broken', 'offline'].includes(stateLooks[state].tone);

/** Notes about a phone besides its state. */
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
 * Returns the display name of a phone: its given name, or else maker and model. Some makers report their names in
 * lower case.
 */
export const deviceName = ({
  name,
  brand,
  model,
  serial,
}: Pick<Device, 'name' | 'brand' | 'model' | 'serial'>): string =>
  name || [capitalized(brand), model].filter(Boolean).join(' ') || serial;

/** Returns the accessible name of a phone's checkbox. */
export const selectName = (device: Device): string => `${deviceName(device)} ${device.serial}`;

export const labelsText = ({ labels }: Pick<Device, 'labels'>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');

/** Returns the name, with the serial number if another phone has the same name. */
export function distinctName(device: Device, all: Iterable<Device>): string {
  const name = deviceName(device);
  for (const other of all)
    if (other.device_id !== device.device_id && deviceName(other) === name)
      return `${name} · ${device.serial}`;
  return name;
}

/** Returns the distinct names of all phones, by ID. */
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

/** Query for all phones that the caller may see; events keep it current. */
export const devicesQuery = queryOptions({
  queryKey: ['devices'],
  queryFn: ({ signal }): Promise<Device[]> =>
    readAll(
      (query) => call('GET /api/v2/devices', { query }, { signal }),
      ({ devices }) => devices,
    ),
  staleTime: 60_000,
  // Detects removed phones: removal is the only change without an event.
  refetchInterval: 60_000,
});

export function useDevice(deviceId: string): Device | undefined {
  return useQuery({ ...devicesQuery, select: (all) => all.find((one) => one.device_id === deviceId) }).data;
}

/** Returns all phones by ID, for lists that only contain IDs. */
export function useDevicesById(): ReadonlyMap<string, Device> {
  return useQuery({ ...devicesQuery, select: byId }).data ?? noDevices;
}

const noDevices = new Map<string, Device>();
const byId = (devices: readonly Device[]): Map<string, Device> =>
  new Map(devices.map((device) => [device.device_id, device]));

interface DeviceSelectProps {
  value: string | undefined;
  /** Called with an empty string for any phone. */
  onChange: (deviceId: string) => void;
}

/** Filter by phone. Also offers a removed phone that the address names, whose data still exists. */
export function DeviceSelect({ value, onChange }: DeviceSelectProps) {
  const { data: devices = [] } = useQuery(devicesQuery);
  const options = devices.map((device) => ({
    value: device.device_id,
    label: `${deviceName(device)} · ${device.serial}`,
  }));
  return <FilterSelect label="Phone" value={value} options={options} onChange={onChange} />;
}

/** Query for the caller's saved selectors. */
export const poolsQuery = queryOptions({
  queryKey: ['pools'],
  queryFn: ({ signal }): Promise<Pool[]> =>
    readAll(
      (query) => call('GET /api/v2/pools', { query }, { signal }),
      ({ pools }) => pools,
    ),
});

interface Selected {
  /** Matching phones; undefined without a selector or with an invalid one. */
  readonly ids: ReadonlySet<string> | undefined;
  /** Reason why the service rejects the selector. */
  readonly problem: string | undefined;
}

/** Refetch interval in ms: selectors may match states, which change. */
const refreshMs = 10_000;

/** Returns the phones that match a selector, as evaluated by the service. */
export function useSelected(selector: string | undefined): Selected {
  const { data, error } = useQuery({
    queryKey: ['selected', selector],
    queryFn: async ({ signal }): Promise<ReadonlySet<string>> => {
      const devices = await readAll(
        (query) => call('GET /api/v2/devices', { query: { ...query, selector: selector ?? '' } }, { signal }),
        (page) => page.devices,
      );
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
