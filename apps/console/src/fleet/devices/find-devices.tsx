import type { Device } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';

import {
  needsAttention,
  stateLooks,
  type DeviceState,
  deviceName,
  labelsText,
  poolsQuery,
} from './device.tsx';
import type { FleetSearch, FleetSort } from './fleet-search.ts';
import { SearchInput, Select } from '../../parts/field.tsx';
import styles from './fleet.module.css';

const matchesText = (device: Device, words: readonly string[]): boolean => {
  const { serial, device_id, reason, host, brand, model } = device;
  const text = [
    deviceName(device),
    brand,
    model,
    serial,
    device_id,
    reason,
    host?.name ?? '',
    labelsText(device),
  ]
    .join(' ')
    .toLowerCase();
  return words.every((word) => text.includes(word));
};

/** Filters and sorts phones. `selected` holds the IDs that match the selector; undefined selects all. */
export function findDevices(
  devices: readonly Device[],
  { q = '', state, host, attention, sort, descending }: FleetSearch,
  selected?: ReadonlySet<string>,
): Device[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const found = devices.filter(
    (device) =>
      (state === undefined || device.state === state) &&
      (attention !== true || needsAttention(device)) &&
      (host === undefined || device.host?.id === host) &&
      selected?.has(device.device_id) !== false &&
      matchesText(device, words),
  );
  if (sort === undefined) return found;
  const sorted = found.toSorted(orders[sort]);
  return descending === true ? sorted.toReversed() : sorted;
}

const { compare } = new Intl.Collator('en', { numeric: true });
const byText =
  (text: (device: Device) => string) =>
  (one: Device, other: Device): number =>
    compare(text(one), text(other));
const stateOrder = Object.keys(stateLooks);
const orders: Record<FleetSort, (one: Device, other: Device) => number> = {
  name: byText(deviceName),
  serial: byText(({ serial }) => serial),
  state: (one, other) => stateOrder.indexOf(one.state) - stateOrder.indexOf(other.state),
  // Sorts the latest change first.
  since: (one, other) => other.since - one.since,
  host: byText(({ host }) => host?.name ?? ''),
  // Sorts the lowest battery first and phones without a level last.
  battery: (one, other) => (one.battery_percent ?? Infinity) - (other.battery_percent ?? Infinity) || 0,
  android: byText((device) => device.android_version),
};

/** Counts the phones in each state, in the order of the states. Omits empty states. */
export function countStates(devices: readonly Device[]): [DeviceState, number][] {
  const counts = new Map<DeviceState, number>();
  for (const { state } of devices) counts.set(state, (counts.get(state) ?? 0) + 1);
  const order = Object.keys(stateLooks);
  return [...counts].toSorted(([one], [other]) => order.indexOf(one) - order.indexOf(other));
}

interface SelectorFilterProps {
  value: string;
  /** Reason why the selector is invalid. */
  problem: string | undefined;
  onChange: (selector: string) => void;
}

/** Filter by labels, properties and saved selectors. */
export function SelectorFilter({ value, problem, onChange }: SelectorFilterProps) {
  const { data: pools = [] } = useQuery(poolsQuery);
  const ofPools = pools.map(({ name }) => ({ value: `pool=${name}`, label: name }));
  const isPool = ofPools.some((option) => option.value === value);
  return (
    <>
      <SearchInput
        label="Selector, such as country=de"
        value={value}
        aria-invalid={problem !== undefined}
        onChange={onChange}
      />
      {problem !== undefined && (
        <span role="status" className={styles['problem']}>
          {problem}
        </span>
      )}
      {ofPools.length > 0 && (
        <Select
          label="Pool"
          value={isPool ? value : ''}
          options={[{ value: '', label: 'All pools' }, ...ofPools]}
          onChange={onChange}
        />
      )}
    </>
  );
}
