import { formatAddress } from '@phalanx/settings';

import type { ServerConfig } from '../../config.ts';
import type { DeviceAccess } from '../../devices/device-access.ts';
import type { Names } from './mail-text.ts';

/** What messages have the IDs of, as people call it. */
export const createNames = (
  { fleet, labels, shares }: DeviceAccess,
  { publicUrl, listen }: Pick<ServerConfig, 'publicUrl' | 'listen'>,
): Names => ({
  async device(id) {
    const device = await fleet.find(id);
    if (device === undefined) return id;
    const { brand, model } = device.stored;
    const name = labels.nameOf(device) || [brand, model].filter(Boolean).join(' ');
    return name === '' ? device.serial : `${name} (${device.serial})`;
  },
  user: (id) => shares.nameOf(id),
  consoleUrl: (publicUrl?.href ?? `http://${formatAddress(listen)}`).replace(/\/+$/, ''),
});
