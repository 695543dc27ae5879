import type { Display } from './android/display/display.ts';
import type { App } from './view/app.ts';
import type { AndroidVersion, MakerName } from './profiles.ts';
import type { Program } from './shell/program.ts';

export interface SimulatedPhoneOptions {
  /** `ro.serialno`, by which a host tells phones apart; a profile with a shared serial number overrides it. */
  readonly serial: string;
  /** Whose phone it is: its name, its display and its ways. Default: our own, with AOSP's ways. */
  readonly profile?: MakerName;
  /** Whether the maker's switch is on that lets the shell grant permissions and clear data. Default: false. */
  readonly allowsGrants?: boolean;
  /** Release of Android. Default: 15. */
  readonly android?: AndroidVersion;
  /** The phone asks for it on the lock screen, and until then its apps can't be started after a restart. Default: none. */
  readonly pin?: string;
  /** How long Android takes to start after a restart, in milliseconds. Default: 300. */
  readonly bootMs?: number;
  /** TCP port on 127.0.0.1. Default: 0, any free one. adb's own scan takes the odd ones of 5555 to 5585. */
  readonly port?: number;
  /** Default: the profile's. */
  readonly brand?: string;
  /** Default: the profile's. */
  readonly model?: string;
  /** Pixels and dots per inch. Default: the profile's. */
  readonly display?: Display;
  /** Lets in only computers whose key was allowed. Default: false. */
  readonly requireAuthorization?: boolean;
  /** Whether the UiAutomator2 server can run on this phone once it is installed. Default: true. */
  readonly uiAutomator2?: boolean;
  /** Packages that are installed besides the sample apps, such as the UiAutomator2 server's. Default: none. */
  readonly installedPackages?: readonly {
    readonly name: string;
    readonly versionCode: number;
    readonly versionName: string;
  }[];
  /** Names of packages that are installed for a work profile, which is user 10. Default: no work profile. */
  readonly workProfilePackages?: readonly string[];
  /** Apps of the phone, one of them a home screen. Default: the sample apps. */
  readonly apps?: readonly App[];
  /** Programs of the shell by their names, in place of the phone's own. Default: none. */
  readonly programs?: ReadonlyMap<string, Program>;
  /** Room for files, which are kept in memory. Default: 84 GB. */
  readonly storageBytes?: number;
}
