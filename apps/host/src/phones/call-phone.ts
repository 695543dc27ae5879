import type { AppLimit, AgentCallParams, AgentCallResult, PhoneCallName } from '@phalanx/protocol';

import type { Driver } from '../driver/driver.ts';
import { readings } from '../driver/driver-calls.ts';
import { DriverError } from '../driver/driver-error.ts';
import type { PhoneUse } from '../driver/phone-use.ts';
import type { Phone, PhoneStateName } from './phone.ts';
import { requireNoSecretOfOthers, touchesApp } from './secrets-of-others.ts';
import type { PhoneWatch } from './watch-phones.ts';
import { pause } from '../time/time-limit.ts';

/** The phone of a run, and the only apps that the run may use. */
export interface CalledPhone {
  serial: string;
  deviceId: string;
  /** Undefined for who only looks: nothing is remembered from one call to the next. */
  use?: PhoneUse | undefined;
  /** The user it is for, as `HostTouch.by` says it; undefined: not known. */
  by?: string | undefined;
  /** Undefined: all of them. */
  appLimit?: AppLimit | undefined;
}

export interface PhoneCall<Name extends PhoneCallName> {
  name: Name;
  params: AgentCallParams<Name>;
  signal: AbortSignal;
}

/** The host mends such a phone within seconds, mostly. */
const passing: ReadonlySet<PhoneStateName> = new Set(['helper_failed', 'connecting']);
const repairMs = 20_000;

/**
 * The phone of a run as it is now: it may have gone and come back since the run began. Waits for a repair that is under
 * way, and asks again after one when the call has done nothing. Rejects with why the phone is gone.
 */
export async function callPhone<Name extends PhoneCallName>(
  phones: PhoneWatch,
  { serial, deviceId, appLimit, use, by }: CalledPhone,
  { name, params, signal }: PhoneCall<Name>,
): Promise<AgentCallResult<Name>> {
  const phone = phones.find(serial);
  if (phone === undefined) throw new PhoneNotConnected(serial);
  const failed = new WeakSet<Driver>();
  const call = async (): Promise<AgentCallResult<Name>> => {
    await whenMended(phones, phone, { failed, signal });
    const driver = phone.driver();
    if (touchesApp(name, keyCodeOf(params))) await requireNoSecretOfOthers(phone, by, signal);
    return await (use === undefined ? driver : driver.usedBy(use))
      .limitedTo(appLimit)
      .call(name, params, signal)
      .catch((error: unknown) => {
        failed.add(driver);
        throw error;
      });
  };
  const result = await call().catch((error: unknown) => {
    if (!canBeRepeated(name, error)) throw error;
    return call();
  });
  return withDeviceId(result, deviceId);
}

const keyCodeOf = (params: object): number | undefined =>
  'keyCode' in params ? Number(params.keyCode) : undefined;

function canBeRepeated(name: PhoneCallName, error: unknown): boolean {
  if (!(error instanceof DriverError) || error.code !== 'ui_helper_failed') return false;
  return error.isUndone || readings.has(name);
}

/** A driver that has failed is replaced a moment after its callers know. */
async function whenMended(
  phones: PhoneWatch,
  phone: Phone,
  { failed, signal }: { failed: WeakSet<Driver>; signal: AbortSignal },
): Promise<void> {
  const isPassing = (): boolean =>
    phone.state.state === 'ready' ? failed.has(phone.driver()) : passing.has(phone.state.state);
  if (!isPassing()) return;
  const mended = new AbortController();
  const stop = phones.onChange((other) => {
    if (other === phone && !isPassing()) mended.abort();
  });
  await pause(repairMs, AbortSignal.any([signal, mended.signal]));
  stop();
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
