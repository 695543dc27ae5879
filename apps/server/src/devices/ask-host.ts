import { type PhoneHealth, PhoneHealth as PhoneHealthSchema, type PhoneInput } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

import { ApiError } from '../http/api-error.ts';
import type { HostLink } from '../hosts/host-link.ts';
import type { FleetDevice } from './fleet.ts';

const validator = Compile(PhoneHealthSchema);

/** How a phone is, from its host. Throws `host_asked_in_vain`. */
export const readHealth = (device: FleetDevice): Promise<PhoneHealth> =>
  askHost(device, async (link) => {
    const health: unknown = JSON.parse((await link.requestHealth(device.serial)).toString());
    if (validator.Check(health)) return health;
    throw new Error('its host answered with something else');
  });

/** Resolves when the phone has done it. Throws `host_asked_in_vain`. */
export const doInput = (device: FleetDevice, input: PhoneInput): Promise<void> =>
  askHost(device, (link) => link.requestInput(device.serial, input));

async function askHost<T>(
  { id, link, reason }: FleetDevice,
  ask: (link: HostLink) => Promise<T>,
): Promise<T> {
  if (link === null) throw ApiError.of('host_asked_in_vain', { device_id: id, reason });
  try {
    return await ask(link);
  } catch (error) {
    const why = error instanceof Error ? error.message : 'no reason given';
    throw ApiError.of(
      'host_asked_in_vain',
      { device_id: id, reason: why.replace(/\.$/, '') },
      { cause: error },
    );
  }
}
