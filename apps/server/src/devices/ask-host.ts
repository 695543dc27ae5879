import {
  type ErrorCode,
  type PhoneHealth,
  PhoneHealth as PhoneHealthSchema,
  type PhoneInput,
} from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

import { ApiError } from '../http/api-error.ts';
import type { HostLink } from '../hosts/host-link.ts';
import type { FleetDevice } from './fleet.ts';

const validator = Compile(PhoneHealthSchema);

/** What is said when a host, or its phone, did not do what it was asked for. */
type AskedInVain = Extract<ErrorCode, 'host_asked_in_vain' | 'screen_failed' | 'screenshot_failed'>;

/** Asks the host of a phone. Throws `device_offline` when it is not connected, and `inVain` when it gives no answer. */
export async function askHost<Answer>(
  { id, link, reason }: FleetDevice,
  inVain: AskedInVain,
  ask: (link: HostLink) => Promise<Answer>,
): Promise<Answer> {
  if (link === null) throw ApiError.of('device_offline', { device_id: id, reason });
  try {
    return await ask(link);
  } catch (error) {
    const why = error instanceof Error ? error.message : 'no reason given';
    throw ApiError.of(inVain, { device_id: id, reason: why.replace(/\.$/, '') }, { cause: error });
  }
}

/** How a phone is, from its host. */
export const readHealth = (device: FleetDevice): Promise<PhoneHealth> =>
  askHost(device, 'host_asked_in_vain', async (link) => {
    const health: unknown = JSON.parse((await link.requestHealth(device.serial)).toString());
    if (validator.Check(health)) return health;
    throw new Error('its host answered with something else');
  });

/** Resolves when the phone has done it. */
export const doInput = (device: FleetDevice, input: PhoneInput): Promise<void> =>
  askHost(device, 'host_asked_in_vain', (link) => link.requestInput(device.serial, input));
