import type { Display } from './android/display.ts';
import type { App } from './apps/app.ts';

export interface SimulatedPhoneOptions {
  /** `ro.serialno`, by which a host tells phones apart. */
  readonly serial: string;
  /** TCP port on 127.0.0.1. Default: 0, any free one. adb's own scan takes the odd ones of 5555 to 5585. */
  readonly port?: number;
  /** Default: Phalanx. */
  readonly brand?: string;
  /** Default: Simulated Phone. */
  readonly model?: string;
  /** Default: 15. */
  readonly androidVersion?: string;
  /** Default: 35. */
  readonly sdkVersion?: number;
  /** Pixels and dots per inch. Default: 1080 × 2400 at 420. */
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
  /** Apps of the phone, one of them a home screen. Default: the sample apps. */
  readonly apps?: readonly App[];
  /** Size of the file system. Default: 64 MiB. */
  readonly storageBytes?: number;
}
