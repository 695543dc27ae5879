import type { DeviceAccess } from '../../fleet/devices/device-access.ts';

/** Names for what a message has only the ID of. */
export interface Names {
  readonly device: (id: string) => Promise<string>;
  readonly user: (id: string) => string;
  /** An address such as `https://phones.example.com`. */
  readonly consoleUrl: string;
  /** The same as the operator has set it. Undefined: only the address that the server listens on is known, which chats can't open. */
  readonly publicUrl: string | undefined;
}

interface Addresses {
  /** Asked when the server listens: only then it has a port. */
  readonly consoleUrl: () => string;
  readonly publicUrl: URL | undefined;
}

/** Finds the names for what messages have the IDs of. */
export const createNames = (
  { fleet, labels, shares }: DeviceAccess,
  { consoleUrl, publicUrl }: Addresses,
): Names => ({
  async device(id) {
    const device = await fleet.find(id);
    if (device === undefined) return id;
    const { brand, model } = device.stored;
    const name = labels.nameOf(device) || [brand, model].filter(Boolean).join(' ');
    return name === '' ? device.serial : `${name} (${device.serial})`;
  },
  user: (id) => shares.nameOf(id),
  get consoleUrl() {
    return consoleUrl();
  },
  get publicUrl() {
    return publicUrl && consoleUrl();
  },
});
