import type { StoredDevice } from './stored-device.ts';

/** A device as it is stored, and whether a server that is alive has the connection that reported it. */
export type KnownDevice = StoredDevice & { is_connected: number };

/** The row that a reported phone has, or gets under this identity. `waits`: another host has it ready. */
export type Placing = { readonly identity: string; readonly row: KnownDevice | undefined } | 'waits';

/** The name that a host gave a phone: no other host means that phone by it. */
export const identityAtHost = ({ host_id, serial }: Pick<StoredDevice, 'host_id' | 'serial'>): string =>
  `${host_id.toLowerCase()}/${serial}`;

/** All identities under which a reported phone may be stored. */
export const identitiesOf = (device: StoredDevice): string[] => [
  ...new Set([device.identity, device.serial, identityAtHost(device)]),
];

/**
 * Finds the row of a phone: what a row stands for never becomes another phone. `isShared` says of a serial number whether
 * several phones were seen with it.
 */
export function placeDevice(
  device: StoredDevice,
  known: ReadonlyMap<string, KnownDevice>,
  isShared: (serial: string) => boolean,
): Placing {
  const atHost = identityAtHost(device);
  const own = known.get(atHost);
  if (own !== undefined) return { identity: atHost, row: own };
  const row = known.get(device.identity);
  if (device.identity === atHost) return { identity: atHost, row: rowOfEarlierRelease(device, known) };
  if (row === undefined) return { identity: device.identity, row };
  if (isReadyElsewhere(row, device)) {
    const isOtherBoot = isOther(row.boot_mark, device.boot_mark);
    return device.state === 'ready' && isOtherBoot ? { identity: atHost, row: undefined } : 'waits';
  }
  return isOtherPhone(row, device, isShared)
    ? { identity: atHost, row: undefined }
    : { identity: row.identity, row };
}

/** Earlier releases stored all phones by their serial number alone. */
const rowOfEarlierRelease = (
  { host_id, serial }: StoredDevice,
  known: ReadonlyMap<string, KnownDevice>,
): KnownDevice | undefined => {
  const row = known.get(serial);
  return row?.host_id.toLowerCase() === host_id.toLowerCase() ? row : undefined;
};

/** Two hosts may reach one phone: the one that can use it keeps it. */
const isReadyElsewhere = (row: KnownDevice, { epoch }: StoredDevice): boolean =>
  row.is_connected === 1 && row.epoch !== epoch && row.state === 'ready';

/** Facts that were not told say nothing. */
export const isOther = (one: string, other: string): boolean => one !== '' && other !== '' && one !== other;

/** A factory reset changes the mark of a phone and leaves its model. What happens at one host, that host knows better. */
function isOtherPhone(
  row: KnownDevice,
  device: StoredDevice,
  isShared: (serial: string) => boolean,
): boolean {
  if (row.host_id.toLowerCase() === device.host_id.toLowerCase()) return false;
  if (!isOther(row.phone_mark, device.phone_mark)) return false;
  const isOtherModel = isOther(row.brand, device.brand) || isOther(row.model, device.model);
  return isOtherModel || isShared(device.serial);
}
