import {
  type ErrorCode,
  type PhoneHealth,
  PhoneHealth as PhoneHealthSchema,
  type PhoneInput,
} from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

import { ApiError } from '../http/api-error.ts';
import type { HostQuestion } from '../hosts/host-link.ts';
import type { LinkedHosts } from '../hosts/linked-hosts.ts';
import type { FleetDevice } from './fleet-device.ts';

const validator = Compile(PhoneHealthSchema);

/** What is said when a host, or its phone, did not do what it was asked for. */
type AskedInVain = Extract<ErrorCode, 'host_asked_in_vain' | 'screen_failed' | 'screenshot_failed'>;

/** Whom to ask about a phone. */
export interface Asked {
  readonly hosts: Pick<LinkedHosts, 'ask'>;
  readonly device: FleetDevice;
}

type Ask = (question: HostQuestion) => Promise<Buffer>;

/** Asks the host of a phone. Throws `device_offline` when it is not connected, and `inVain` when it gives no answer. */
export async function askHost<Answer>(
  { hosts, device: { id, epoch, reason } }: Asked,
  inVain: AskedInVain,
  inquire: (ask: Ask) => Promise<Answer>,
): Promise<Answer> {
  if (epoch === null) throw ApiError.of('device_offline', { device_id: id, reason });
  try {
    return await inquire((question) => hosts.ask(epoch, question));
  } catch (error) {
    const why = error instanceof Error ? error.message : 'no reason given';
    throw ApiError.of(inVain, { device_id: id, reason: why.replace(/\.$/, '') }, { cause: error });
  }
}

/** How a phone is, from its host. */
export const readHealth = (asked: Asked): Promise<PhoneHealth> =>
  askHost(asked, 'host_asked_in_vain', async (ask) => {
    const answer = await ask({ type: 'health', serial: asked.device.serial });
    const health: unknown = JSON.parse(answer.toString());
    if (validator.Check(health)) return health;
    throw new Error('its host answered with something else');
  });

/** Resolves when the phone has done it. */
export const doInput = (asked: Asked, input: PhoneInput): Promise<unknown> =>
  askHost(asked, 'host_asked_in_vain', (ask) => ask({ type: 'input', serial: asked.device.serial, input }));
