import type { StoredDevice } from './stored-device.ts';

/** Stored device, and whether a live server holds the connection that reported it. */
export type KnownDevice = StoredDevice & { is_connected: number };

/** Row of a reported phone, or the identity for a new row. `waits`: the phone is ready at another host. */
export type Placing = { readonly identity: string; readonly row: KnownDevice | undefined } | 'waits';

/** Returns the identity of a phone at its host, which no other phone can have. */
export const identityAtHost = ({ host_id, serial }: Pick<StoredDevice, 'host_id' | 'serial'>): string =>
  `${host_id.toLowerCase()}/${serial}`;

/** Returns all identities under which a reported phone may be stored. */
export const identitiesOf = (device: StoredDevice): string[] => [
  ...new Set([device.identity, device.serial, identityAtHost(device)]),
];

/**
 * Finds the row of a reported phone. A row never comes to represent a different phone. `isShared` returns whether
 * several phones have been seen with a serial number.
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

/** Finds a row of an earlier release, which stored all phones by their serial number alone. */
const rowOfEarlierRelease = (
  { host_id, serial }: StoredDevice,
  known: ReadonlyMap<string, KnownDevice>,
): KnownDevice | undefined => {
  const row = known.get(serial);
  return row?.host_id.toLowerCase() === host_id.toLowerCase() ? row : undefined;
};

/**
 * Whether another connected host has the phone ready. Two hosts may reach one phone; the host that can use it keeps it.
 */
const isReadyElsewhere = (row: KnownDevice, { epoch }: StoredDevice): boolean =>
  row.is_connected === 1 && row.epoch !== epoch && row.state === 'ready';

/** Whether two facts contradict each other. Empty facts are unknown and contradict nothing. */
export const isOther = (one: string, other: string): boolean => one !== '' && other !== '' && one !== other;

/**
 * Whether a report is about a different phone than the row. A factory reset changes the mark of a phone but not its
 * model, so a different mark alone does not decide. Reports from the same host are trusted.
 */
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
