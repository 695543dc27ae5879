import type { AppLimit, AgentCallParams, AgentCallResult, PhoneCallName } from '@phalanx/protocol';

import type { Driver } from '../driver/driver.ts';
import { readings } from '../driver/driver-calls.ts';
import { DriverError } from '../driver/driver-error.ts';
import type { PhoneUse } from '../driver/phone-use.ts';
import type { Phone, PhoneStateName } from './phone.ts';
import { requireNoSecretOfOthers, touchesApp } from './secrets-of-others.ts';
import type { PhoneWatch } from './watch-phones.ts';
import { pause } from '../time/time-limit.ts';

/** Phone of a run or of another caller, with the limits of its use. */
export interface CalledPhone {
  serial: string;
  deviceId: string;
  /** Use of the phone. Undefined for read-only callers: nothing is remembered between calls. */
  use?: PhoneUse | undefined;
  /** User of the phone, as in `HostTouch.by`. Undefined when unknown. */
  by?: string | undefined;
  /** Apps that the caller may use. Undefined allows all of them. */
  appLimit?: AppLimit | undefined;
  /** Maximum wait of a call for a phone that is away, in milliseconds. Undefined waits for a repair only. */
  graceMs?: number | undefined;
  /** Boot at the last call. Undefined when the caller does not depend on earlier calls. */
  lastBoot?: LastBoot | undefined;
}

/** Boot of the phone at the run's last call. Undefined when the phone has not reported it. */
export interface LastBoot {
  id: string | undefined;
}

export interface PhoneCall<Name extends PhoneCallName> {
  name: Name;
  params: AgentCallParams<Name>;
  signal: AbortSignal;
}

/** States that the host usually repairs within seconds. */
const passing: ReadonlySet<PhoneStateName> = new Set(['helper_failed', 'connecting']);
const repairMs = 20_000;

/**
 * Calls the run's phone in its current state: the phone may have gone and come back since the run began. Waits for a
 * repair in progress, and within the grace period for the phone's return. Retries a call that has done nothing or that
 * only reads: once after a helper failure, and until the end of the grace period after a lost connection. Rejects with
 * the reason why the phone is unavailable.
 */
export async function callPhone<Name extends PhoneCallName>(
  phones: PhoneWatch,
  called: CalledPhone,
  { name, params, signal }: PhoneCall<Name>,
): Promise<AgentCallResult<Name>> {
  const { serial, deviceId, appLimit, use, by, graceMs, lastBoot } = called;
  const phone = phones.find(serial);
  if (phone === undefined) throw new PhoneNotConnected(serial);
  const failed = new WeakSet<Driver>();
  const call = async (): Promise<AgentCallResult<Name>> => {
    await whenUsable(phones, phone, { failed, signal, graceMs });
    const driver = phone.driver();
    if (lastBoot !== undefined) noteBoot(phone, lastBoot, readings.has(name));
    if (touchesApp(name, keyCodeOf(params))) await requireNoSecretOfOthers(phone, by, signal);
    return await (use === undefined ? driver : driver.usedBy(use))
      .limitedTo(appLimit)
      .call(name, params, signal)
      .catch((error: unknown) => {
        failed.add(driver);
        throw error;
      });
  };
  const until = performance.now() + (graceMs ?? 0);
  for (let hasHelperFailed = false; ;) {
    try {
      return withDeviceId(await call(), deviceId);
    } catch (error) {
      if (!canBeRepeated(name, error)) throw error;
      const isLinkLost = error.code === 'phone_gone';
      if (isLinkLost ? performance.now() >= until : hasHelperFailed) throw error;
      if (!isLinkLost) hasHelperFailed = true;
    }
  }
}

const keyCodeOf = (params: object): number | undefined =>
  'keyCode' in params ? Number(params.keyCode) : undefined;

function canBeRepeated(name: PhoneCallName, error: unknown): error is DriverError {
  if (!(error instanceof DriverError)) return false;
  if (error.code !== 'ui_helper_failed' && error.code !== 'phone_gone') return false;
  return error.isUndone || readings.has(name);
}

/** Throws once after a restart of the phone: the screen is gone, so a touch meant for it would hit something else. */
function noteBoot({ serial, identity }: Phone, lastBoot: LastBoot, isReading: boolean): void {
  const [before, now] = [lastBoot.id, identity?.bootId];
  lastBoot.id = now ?? before;
  if (!isReading && before !== undefined && now !== undefined && before !== now)
    throw new DriverError('phone_gone', `The phone ${serial} was restarted since the last call.`);
}

/** Waits until the phone is usable. A failed driver is replaced shortly after its callers see the failure. */
async function whenUsable(
  phones: PhoneWatch,
  phone: Phone,
  { failed, signal, graceMs }: { failed: WeakSet<Driver>; signal: AbortSignal; graceMs: number | undefined },
): Promise<void> {
  const isAway = (): boolean => {
    const { state } = phone.state;
    return state === 'ready' ? failed.has(phone.driver()) : graceMs !== undefined || passing.has(state);
  };
  if (!isAway()) return;
  const back = new AbortController();
  const stop = phones.onChange((other) => {
    if (other === phone && !isAway()) back.abort();
  });
  await pause(graceMs ?? repairMs, AbortSignal.any([signal, back.signal]));
  stop();
}

/** Adds the device ID, which only the service knows. */
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
