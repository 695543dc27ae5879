import type { Dialog } from './view/app.ts';

export type UiautomatorFault = 'idle' | 'null-root' | 'killed' | 'noise-before-xml';

/** Faults of this phone. Fields can be set at any time and stay in effect until reset. */
export interface FaultState {
  /** Delay in ms before each new service (shell command, socket, file transfer). Default: 0. */
  slowMs: number;
  /** Accepts connections and never replies, including on open ones. */
  hang: boolean;
  /** Never replies to the handshake, so that adb says "offline". Does not affect open connections. */
  offline: boolean;
  /** Asks for a key endlessly, so that adb says "unauthorized". Does not affect open connections. */
  unauthorized: boolean;
  /** Number of payload bytes after which each connection is cut. Default: undefined, never. */
  dropAfterBytes: number | undefined;
  /** Front window forbids screenshots: pictures are black or fail. The tree stays. */
  secureWindow: boolean;
  /** Administrator of the phone forbids screenshots: they are black, and no window indicates it. */
  forbidsCapture: boolean;
  /** `screencap` writes a warning before the picture, as phones with several displays do. */
  screencapWarning: boolean;
  /** Blocks installing, injected input and most settings, like phones with a second switch for USB debugging. */
  restrictedDebugging: boolean;
  /**
   * `dumpsys input_method` keeps reporting a visible keyboard, as with some keyboards without a window
   * (appium/appium-adb#52, #56).
   */
  claimsKeyboard: boolean;
  /** Maker denies the shell access to text messages. */
  refusesMessages: boolean;
  /**
   * Apps that Android does not stop, such as one that manages the phone (AOSP,
   * ActivityManagerService.forceStopPackage). Default: none.
   */
  protectedApps: readonly string[];
  /** Administrator of the phone has locked its settings: `settings put` changes nothing and reports nothing. */
  keepsSettings: boolean;
  /** Administrator of the phone keeps the notification shade closed (DevicePolicyManager.setStatusBarDisabled). */
  statusBarDisabled: boolean;
  /** Administrator of the work profile denies the shell access to it. */
  closedProfile: boolean;
  /** Play Protect inspects installations over USB and rejects them. */
  verifyAppsOverUsb: boolean;
  /** Active window has no root for accessibility. */
  nullRoot: boolean;
  /**
   * Minimum interval between change events of apps, in ms, as with web pages and Compose; `Infinity`: never. Default:
   * 0, at once.
   */
  eventIntervalMs: number;
  /** Running helper is worn out: it gets no root. The next helper gets one. */
  wornHelper: boolean;
  /** Running helper gets no nodes of web pages. The next helper gets them. */
  emptyWebPages: boolean;
  /**
   * Time in ms that UiAutomation waits for an app's animations before injecting, as on Android 16 with an endless
   * one.
   */
  injectionMs: number;
  /** UiAutomator2 server returns the windows of all displays in one document, with the display ID on each node. */
  listsAllDisplays: boolean;
  /** Time in ms that the helper waits for a root before giving up. Default: 10,000, as in the real one. */
  rootWaitMs: number;
  /** Helper replies to `/status` and nothing else. */
  wedgedHelper: boolean;
  /** Pictures and trees stay frozen, regardless of changes. */
  frozenScreen: boolean;
  /**
   * Called before the phone returns a tree or takes a picture, to simulate an app that changes its screen by itself.
   */
  beforeReading: (() => void) | undefined;
  /** Failure mode of `uiautomator dump`. */
  uiautomator: UiautomatorFault | undefined;
  /** `uiautomator dump` writes `.` for each half of an emoji, as on old Android versions. */
  dumpLosesEmoji: boolean;
  /** No video encoder: scrcpy's server ends when a viewer connects. */
  noVideoEncoder: boolean;
  /**
   * Missing services of Android, such as `package` or `notification`, as during a restart of the system server.
   * Default: none.
   */
  missingServices: readonly string[];
  /** `sys.boot_completed` is unset, and the package and activity managers are missing. */
  bootNotCompleted: boolean;
}

export interface Faults extends FaultState {
  /** Cuts all connections. */
  drop(): void;
  /** Turns the screen off and locks the phone, like the power key. */
  turnScreenOff(): void;
  /** Kills the UiAutomator2 server and resident helpers, like the system does on low memory. */
  killUiServer(): void;
  /** Ends the server's UiAutomation; the server keeps running and replies to `/status`. */
  killUiAutomation(): void;
  /** Restarts the phone, like a long press of its power key. */
  reboot(): void;
  /** Crashes the named app. Default: the app in front. */
  crashApp(packageName?: string): void;
  /** Shows a dialog of the app in front. */
  showDialog(dialog?: Dialog): void;
  /** Resets every field; effects of actions stay. */
  clear(): void;
}

export function noFaults(): FaultState {
  return {
    slowMs: 0,
    hang: false,
    offline: false,
    unauthorized: false,
    dropAfterBytes: undefined,
    secureWindow: false,
    forbidsCapture: false,
    screencapWarning: false,
    restrictedDebugging: false,
    claimsKeyboard: false,
    refusesMessages: false,
    protectedApps: [],
    keepsSettings: false,
    statusBarDisabled: false,
    closedProfile: false,
    verifyAppsOverUsb: false,
    nullRoot: false,
    eventIntervalMs: 0,
    wornHelper: false,
    emptyWebPages: false,
    injectionMs: 0,
    listsAllDisplays: false,
    rootWaitMs: 10_000,
    wedgedHelper: false,
    frozenScreen: false,
    beforeReading: undefined,
    uiautomator: undefined,
    dumpLosesEmoji: false,
    noVideoEncoder: false,
    missingServices: [],
    bootNotCompleted: false,
  };
}
