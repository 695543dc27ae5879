import type { DeviceAccess } from '../../fleet/devices/device-access.ts';

/** Names of objects that messages identify by ID. */
export interface Names {
  readonly device: (id: string) => Promise<string>;
  readonly user: (id: string) => string;
  /** URL of the console, such as `https://phones.example.com`. */
  readonly consoleUrl: string;
  /**
   * URL of the console as set by the operator. Undefined when only the address is known that the server listens on,
   * which chats cannot open.
   */
  readonly publicUrl: string | undefined;
}

interface Addresses {
  /** Returns the URL of the console. Called only when the server listens, because it has no port before that. */
  readonly consoleUrl: () => string;
  readonly publicUrl: URL | undefined;
}

/** Creates the names of objects that messages identify by ID. */
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
