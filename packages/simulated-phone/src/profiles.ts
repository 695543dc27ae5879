import type { Display } from './android/display/display.ts';

/** Differences of a maker's phones from AOSP that affect a host. */
export interface MakerProfile {
  readonly brand: string;
  readonly manufacturer: string;
  readonly model: string;
  readonly device: string;
  readonly display: Display;
  /** Whether the shell may not grant permissions, even during installation, until a switch of the maker is on. */
  readonly refusesGrants: boolean;
  /** Error of an installation while a switch of the maker is off: code and message. */
  readonly installRefusal: readonly [code: string, sentence: string];
  /** Reply to a shell command that clears an app's data until that switch is on. */
  readonly clearRefusal: string | undefined;
  /** Serial number that all phones of the model share. */
  readonly sharedSerial: string | undefined;
  /** Whether some apps have several launcher activities, for which `resolve-activity` returns Android's chooser. */
  readonly answersWithResolver: boolean;
  /** Source of the behavior: its rule, or where it was observed. */
  readonly source: string;
}

const handset: Display = { width: 1080, height: 2400, density: 420 };
const plain = {
  refusesGrants: false,
  installRefusal: ['INSTALL_FAILED_USER_RESTRICTED', 'Install canceled by user'],
  clearRefusal: undefined,
  sharedSerial: undefined,
  answersWithResolver: false,
} as const;

export const makerProfiles = {
  pixel: {
    ...plain,
    brand: 'google',
    manufacturer: 'Google',
    model: 'Pixel 8',
    device: 'shiba',
    display: handset,
    source: 'AOSP: frameworks/base, packages/modules/adb',
  },
  samsung: {
    ...plain,
    brand: 'samsung',
    manufacturer: 'samsung',
    model: 'SM-S918B',
    device: 'dm3q',
    display: { width: 1080, height: 2340, density: 450 },
    answersWithResolver: true,
    source: 'One UI answers resolve-activity with ResolverActivity: appium/appium-adb, lib/tools/apk-utils',
  },
  xiaomi: {
    ...plain,
    brand: 'Redmi',
    manufacturer: 'Xiaomi',
    model: '23021RAAEG',
    device: 'tapas',
    display: { width: 1080, height: 2400, density: 440 },
    refusesGrants: true,
    clearRefusal:
      'PID 9083 does not have permission android.permission.CLEAR_APP_USER_DATA to clear data of package',
    source:
      'MIUI and HyperOS check INSTALL_GRANT_RUNTIME_PERMISSIONS: appium/appium issues on "pm install -g"; pm clear: appium/appium-desktop#393; pm grant: darshanparajuli/LogcatReader#42',
  },
  oppo: {
    ...plain,
    brand: 'OPPO',
    manufacturer: 'OPPO',
    model: 'CPH2581',
    device: 'OP5961L1',
    display: { width: 1080, height: 2412, density: 480 },
    refusesGrants: true,
    clearRefusal: 'adb clearing user data is forbidden.',
    source:
      'ColorOS "permission monitoring": genymobile/scrcpy, FAQ; pm clear: appium/appium#13802; pm grant: PhilippC/kp2a_keyboardswap#12',
  },
  vivo: {
    ...plain,
    brand: 'vivo',
    manufacturer: 'vivo',
    model: 'V2250',
    device: 'PD2250',
    display: { width: 1080, height: 2400, density: 440 },
    installRefusal: ['INSTALL_FAILED_ABORTED', 'User rejected permissions'],
    source:
      'thundersdata-frontend/rn-template#36; input is refused until "USB simulated click" is on: openatx/uiautomator2#330',
  },
  huawei: {
    ...plain,
    brand: 'HUAWEI',
    manufacturer: 'HUAWEI',
    model: 'ELE-L29',
    device: 'HWELE',
    display: { width: 1080, height: 2340, density: 480 },
    source: 'leaves ADB while the cable only charges it: Genymobile/scrcpy#988 and #1385',
  },
  'tablet-noname': {
    ...plain,
    brand: 'Allwinner',
    manufacturer: 'Allwinner',
    model: 'QUAD-CORE A133 b3',
    device: 'ceres-b3',
    display: { width: 800, height: 1280, density: 160 },
    sharedSerial: '0123456789ABCDEF',
    answersWithResolver: true,
    source: 'placeholder serial numbers of reference builds: AOSP, system/core init and adb documentation',
  },
} as const satisfies Readonly<Record<string, MakerProfile>>;

export type MakerName = keyof typeof makerProfiles;

/** Differences between Android releases that affect a host. */
export interface AndroidRelease {
  readonly sdkVersion: number;
  /** Key of the front activity in `dumpsys activity activities`. */
  readonly resumedKey: 'mResumedActivity' | 'topResumedActivity';
  /** Whether the release hides APIs, so that `am instrument` accepts `--no-hidden-api-checks`. */
  readonly hidesApis: boolean;
  /** Whether apps in the background can read the clipboard. */
  readonly showsClipboard: boolean;
  readonly source: string;
}

export const androidReleases = {
  8: {
    sdkVersion: 26,
    resumedKey: 'mResumedActivity',
    hidesApis: false,
    showsClipboard: true,
    source: 'android-8.0.0_r1: ActivityStackSupervisor.java, Am.java',
  },
  11: {
    sdkVersion: 30,
    resumedKey: 'topResumedActivity',
    hidesApis: true,
    showsClipboard: false,
    source: 'android-11.0.0_r1: RootWindowContainer.java, Instrument.java, ClipboardService.java',
  },
  13: {
    sdkVersion: 33,
    resumedKey: 'topResumedActivity',
    hidesApis: true,
    showsClipboard: false,
    source: 'android-13.0.0_r1: TaskDisplayArea.java',
  },
  15: {
    sdkVersion: 35,
    resumedKey: 'topResumedActivity',
    hidesApis: true,
    showsClipboard: false,
    source: 'android-15.0.0_r1: TaskDisplayArea.java',
  },
} as const satisfies Readonly<Record<number, AndroidRelease>>;

export type AndroidVersion = keyof typeof androidReleases;

/** Profile of the demo's phones: AOSP's behavior under our own name. */
export const ownProfile: MakerProfile = {
  ...plain,
  brand: 'Phalanx',
  manufacturer: 'Phalanx',
  model: 'Simulated Phone',
  device: 'simulated',
  display: handset,
  source: 'AOSP',
};
