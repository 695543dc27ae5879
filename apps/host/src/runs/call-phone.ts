import type { AgentCallParams, AgentCallResult, PhoneCallName } from '@phalanx/protocol';

import type { PhoneWatch } from '../phones/watch-phones.ts';

export interface PhoneCall<Name extends PhoneCallName> {
  name: Name;
  params: AgentCallParams<Name>;
  signal: AbortSignal;
}

/** The phone of a run as it is now: it may have gone and come back since the run began. Rejects with why it is gone. */
export async function callPhone<Name extends PhoneCallName>(
  phones: PhoneWatch,
  { serial, deviceId }: { serial: string; deviceId: string },
  { name, params, signal }: PhoneCall<Name>,
): Promise<AgentCallResult<Name>> {
  const phone = phones.find(serial);
  if (phone === undefined) throw new PhoneNotConnected(serial);
  const result = await phone.driver().call(name, params, signal);
  return withDeviceId(result, deviceId);
}

/** Only the service knows the ID; the driver leaves it open. */
function withDeviceId<Result>(result: Result, deviceId: string): Result {
  const hasDeviceId = typeof result === 'object' && result !== null && 'deviceId' in result;
  return hasDeviceId ? { ...result, deviceId } : result;
}

class PhoneNotConnected extends Error {
  readonly code = 'phone_gone';

  constructor(serial: string) {
    super(`The phone ${serial} is not connected to this host.`);
    this.name = 'PhoneNotConnected';
  }
}
