import type { PhoneFacts, PhoneWarning, ReportedDeviceState } from '@phalanx/protocol';
import type { Driver } from '../driver/driver.ts';
import type { HeldMasks } from '../driver/masks/masked-screen.ts';
import type { ScreenVideo } from '../driver/video/screen-video.ts';
import type { HeldSettings } from '../driver/settings/held-settings.ts';
import type { PhoneIdentity } from './identity/phone-identity.ts';
import type { PhoneHistory } from './health/phone-histories.ts';
import type { TypedSecrets } from '../driver/masks/typed-secrets.ts';
import type { PhoneUses } from './phone-uses.ts';
import type { ScreenHolder } from './screen-holder.ts';

/** State of a phone. Only `ready` phones take calls. */
export type PhoneStateName = ReportedDeviceState;

export interface PhoneState {
  readonly state: PhoneStateName;
  /** Explanation for people: the problem, what was tried, and what to do. */
  readonly reason: string;
  /** Start of this state in epoch milliseconds. A new reason for the same state does not change it. */
  readonly since: number;
}

export interface PhoneDescription {
  readonly brand: string;
  readonly model: string;
  readonly androidVersion: string;
  readonly sdkVersion: number;
  /** Width in pixels, in the phone's natural orientation. */
  readonly screenWidth: number;
  readonly screenHeight: number;
  readonly densityDpi: number;
  /** Supported ABIs, preferred first, such as `arm64-v8a`. */
  readonly abis: readonly string[];
  readonly securityPatch: string;
}

export interface Phone {
  /**
   * Serial number of the phone (`ro.serialno`), or the name that this host gave a phone without one. It is never reused
   * for another phone. Until the phone has reported its identity, it is ADB's name for the phone.
   */
  readonly serial: string;
  /** Whether the phone itself has reported its serial number. Before that, it may turn out to be another phone. */
  readonly isIdentified: boolean;
  /** Whether `serial` is the phone's own, unique serial number. Else this host made the name up. */
  readonly hasOwnNumber: boolean;
  /** Identity of the phone; undefined until the phone has reported it. */
  readonly identity: PhoneIdentity | undefined;
  /** Whether the phone can't be told apart from another one. Such a phone is not used, and people are informed. */
  readonly isDoubted: boolean;
  readonly state: PhoneState;
  /** Description of the phone; undefined until it was read, and kept while the phone is away. */
  readonly description: PhoneDescription | undefined;
  /** Time of the phone's last answer in epoch milliseconds; 0 when it never answered. */
  readonly confirmedAt: number;
  /** History of the phone, including the time before a restart of the host. */
  readonly history: Pick<PhoneHistory, 'list' | 'lastRepair'>;
  /** Health facts of the phone; null until the phone was asked. */
  readonly facts: PhoneFacts | null;
  /** Warnings for a person to act on, derived from those facts. */
  readonly warnings: readonly PhoneWarning[];
  /**
   * Battery level in steps of five percent, so that a discharging fleet does not report each percent. Undefined when
   * unknown.
   */
  readonly batteryPercent: number | undefined;
  /** Keeps the screen awake for callers that use it. */
  readonly screen: Pick<ScreenHolder, 'hold' | 'isHeld'>;
  /** Holds the masks that a project declares. */
  readonly masks: Pick<HeldMasks, 'hold'>;
  /** Records the fields into which secrets were typed. */
  readonly typedSecrets: Pick<TypedSecrets, 'add' | 'areOfOthers' | 'appsOfOthers'>;
  /** Video of the screen while the phone is connected. */
  readonly video: Pick<ScreenVideo, 'next'> | undefined;
  /** Uses of the phone by runs and by users. */
  readonly uses: PhoneUses;
  /** Holds the settings that callers change. */
  readonly settings: Pick<HeldSettings, 'hold'>;
  /**
   * Throws PhoneUnavailable when the phone is not ready. Call it again after a state change: a driver ends with its
   * connection.
   */
  driver(): Driver;
}

/** Thrown when the phone is not ready; `phoneState` gives the reason. */
export class PhoneUnavailable extends Error {
  override readonly name = 'PhoneUnavailable';
  readonly code = 'phone_unavailable';
  readonly phoneState: PhoneState;

  constructor(serial: string, phoneState: PhoneState) {
    super(`The phone ${serial} is ${phoneState.state}: ${phoneState.reason}`);
    this.phoneState = phoneState;
  }
}
