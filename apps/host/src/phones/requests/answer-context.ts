import type { Driver } from '../../driver/driver.ts';
import type { PhoneUse } from '../../driver/phone-use.ts';
import type { ServiceClock } from '../../connection/service-clock.ts';

/** Context that an answer to the server needs besides the phone. */
export interface AnswerContext {
  readonly clock: ServiceClock;
  readonly signal: AbortSignal;
  /** The use of the phone by hand; undefined for those who only look. */
  readonly use: PhoneUse | undefined;
  /** The phone for that use, within the apps of the token that asks. Throws PhoneUnavailable. */
  readonly driver: () => Driver;
  /** Whether the operator lets others install apps. */
  readonly mayChangeApps: boolean;
}
