import type { DeviceAccess } from '../../devices/device-access.ts';
import type { Names } from './mail-text.ts';

/** What messages have the IDs of, as people call it. `consoleUrl` is asked when the server listens: only then it has a port. */
export const createNames = ({ fleet, labels, shares }: DeviceAccess, consoleUrl: () => string): Names => ({
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
});
