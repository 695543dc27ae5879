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
  /** Use of the phone. Undefined for callers that only look: nothing is remembered from one call to the next. */
  use?: PhoneUse | undefined;
  /** The user it is for, as `HostTouch.by` says it; undefined: not known. */
  by?: string | undefined;
  /** Undefined: all of them. */
  appLimit?: AppLimit | undefined;
  /** Maximum wait of a call for a phone that is away. Undefined: only for a repair. */
  graceMs?: number | undefined;
  /** Undefined: what it did before is nothing to the caller. */
  lastBoot?: LastBoot | undefined;
}

/** Boot of the phone at the run's last call. Undefined: the phone has not told it. */
export interface LastBoot {
  id: string | undefined;
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
 * way, and with a grace time until the phone is back. Asks again when the call has done nothing, or only reads: after a
 * repair once, after the loss of a connection until the grace time is over. Rejects with why the phone is gone.
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

/** A restart ends what was on the screen: a touch that was meant for it would hit something else. Told once. */
function noteBoot({ serial, identity }: Phone, lastBoot: LastBoot, isReading: boolean): void {
  const [before, now] = [lastBoot.id, identity?.bootId];
  lastBoot.id = now ?? before;
  if (!isReading && before !== undefined && now !== undefined && before !== now)
    throw new DriverError('phone_gone', `The phone ${serial} was restarted since the last call.`);
}

/** A driver that has failed is replaced a moment after its callers know. */
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

/** Adds the ID, which the service knows and the driver does not. */
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
