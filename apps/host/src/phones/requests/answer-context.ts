import type { Driver } from '../../driver/driver.ts';
import type { PhoneUse } from '../../driver/phone-use.ts';
import type { ServiceClock } from '../../connection/service-clock.ts';

/** Context of an answer to the server, in addition to the phone. */
export interface AnswerContext {
  readonly clock: ServiceClock;
  readonly signal: AbortSignal;
  /** Manual use of the phone; undefined for read-only questions. */
  readonly use: PhoneUse | undefined;
  /** Returns the driver for that use, limited to the apps of the asking token. Throws PhoneUnavailable. */
  readonly driver: () => Driver;
  /** Whether the operator allows others to install apps. */
  readonly mayChangeApps: boolean;
}
