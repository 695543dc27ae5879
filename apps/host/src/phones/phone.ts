import type { PhoneFacts, PhoneWarning, ReportedDeviceState } from '@phalanx/protocol';
import type { Driver } from '../driver/driver.ts';
import type { HeldMasks } from '../driver/masks/masked-screen.ts';
import type { ScreenVideo } from '../driver/video/screen-video.ts';
import type { HeldSettings } from '../driver/settings/held-settings.ts';
import type { PhoneIdentity } from './identity/phone-identity.ts';
import type { PhoneHistory } from './health/history-folder.ts';
import type { TypedSecrets } from '../driver/masks/typed-secrets.ts';
import type { PhoneUses } from './phone-uses.ts';
import type { ScreenHolder } from './screen-holder.ts';

/** State of a phone, in one word. Only `ready` phones take calls. */
export type PhoneStateName = ReportedDeviceState;

export interface PhoneState {
  readonly state: PhoneStateName;
  /** Reason for people: what is the matter, what was tried and what to do. */
  readonly reason: string;
  /** Start of this state, epoch milliseconds. A new reason for the same state does not change it. */
  readonly since: number;
}

export interface PhoneDescription {
  readonly brand: string;
  readonly model: string;
  readonly androidVersion: string;
  readonly sdkVersion: number;
  /** Pixels, in the phone's natural orientation. */
  readonly screenWidth: number;
  readonly screenHeight: number;
  readonly densityDpi: number;
  /** Preferred first, such as `arm64-v8a`. */
  readonly abis: readonly string[];
  readonly securityPatch: string;
}

export interface Phone {
  /**
   * The phone's own serial number (`ro.serialno`), or the name that this host gave a phone without one. It never becomes another
   * phone's. Until the phone has told who it is: how ADB names the phone.
   */
  readonly serial: string;
  /** False until the phone itself has told its serial number: such a phone may turn out to be another one. */
  readonly isIdentified: boolean;
  /** Whether `serial` is its own number, which no other phone has. Else it is a name that this host gave it. */
  readonly hasOwnNumber: boolean;
  /** Undefined until it has told it. */
  readonly identity: PhoneIdentity | undefined;
  /** Whether it can't be told apart from another phone: then nobody uses it, and people are told. */
  readonly isDoubted: boolean;
  readonly state: PhoneState;
  /** Undefined until it was read; kept while the phone is away. */
  readonly description: PhoneDescription | undefined;
  /** Time of the phone's last answer, epoch milliseconds; 0 when it never answered. */
  readonly confirmedAt: number;
  /** History of the phone, also from before a restart of the host. */
  readonly history: Pick<PhoneHistory, 'list' | 'lastRepair'>;
  /** Null until it was asked. */
  readonly facts: PhoneFacts | null;
  /** Warnings for somebody to look after, by those facts. */
  readonly warnings: readonly PhoneWarning[];
  /** Level in steps of five: a fleet that empties its batteries is not told of each percent. Undefined: not known. */
  readonly batteryPercent: number | undefined;
  /** Holds the screen awake for callers that work with it. */
  readonly screen: Pick<ScreenHolder, 'hold' | 'isHeld'>;
  /** Holds the masks that a project declares. */
  readonly masks: Pick<HeldMasks, 'hold'>;
  /** Notes in which field a secret is typed. */
  readonly typedSecrets: Pick<TypedSecrets, 'add' | 'areOfOthers' | 'appsOfOthers'>;
  /** Video of the screen while the phone is connected. */
  readonly video: Pick<ScreenVideo, 'next'> | undefined;
  /** Uses of the phone by runs, and by users by hand. */
  readonly uses: PhoneUses;
  /** Holds the settings that callers change. */
  readonly settings: Pick<HeldSettings, 'hold'>;
  /** Throws PhoneUnavailable when the phone is not ready. Ask again after a state change: a driver ends with its connection. */
  driver(): Driver;
}

/** The phone is not ready; `phoneState` says why. */
export class PhoneUnavailable extends Error {
  override readonly name = 'PhoneUnavailable';
  readonly code = 'phone_unavailable';
  readonly phoneState: PhoneState;

  constructor(serial: string, phoneState: PhoneState) {
    super(`The phone ${serial} is ${phoneState.state}: ${phoneState.reason}`);
    this.phoneState = phoneState;
  }
}
