import type { Dialog } from './view/app.ts';

export type UiautomatorFault = 'idle' | 'null-root' | 'killed' | 'noise-before-xml';

/** Faults of this phone. Fields can be set at any time and hold until they are set back. */
export interface FaultState {
  /** Delay before each new service (shell command, socket, file transfer), in milliseconds. Default: 0. */
  slowMs: number;
  /** Accepts connections and never answers. Also holds for open ones. */
  hang: boolean;
  /** Never answers the handshake, so that adb says "offline". Does not hold for open connections. */
  offline: boolean;
  /** Asks for a key for ever, so that adb says "unauthorized". Does not hold for open connections. */
  unauthorized: boolean;
  /** Cuts each connection after it sent that many bytes of payload. Default: undefined, never. */
  dropAfterBytes: number | undefined;
  /** The window in front forbids screenshots: pictures are black or fail. The tree stays. */
  secureWindow: boolean;
  /** The administrator of the phone has forbidden pictures of it: they are black, and no window says so. */
  forbidsCapture: boolean;
  /** `screencap` writes a warning before the picture, as phones with several displays do. */
  screencapWarning: boolean;
  /** Installing, injected input and most settings are forbidden, as on phones with a second switch for USB debugging. */
  restrictedDebugging: boolean;
  /** `dumpsys input_method` goes on saying that a keyboard is shown, as of some keyboards without a window (appium/appium-adb#52, #56). */
  claimsKeyboard: boolean;
  /** The maker keeps text messages from the shell. */
  refusesMessages: boolean;
  /** Apps that Android does not stop, such as one that manages the phone (AOSP, ActivityManagerService.forceStopPackage). Default: none. */
  protectedApps: readonly string[];
  /** The administrator of the phone has fixed its settings: `settings put` changes nothing, and reports nothing. */
  keepsSettings: boolean;
  /** The administrator of the phone keeps the notification shade closed (DevicePolicyManager.setStatusBarDisabled). */
  statusBarDisabled: boolean;
  /** The administrator of the work profile keeps it from the shell. */
  closedProfile: boolean;
  /** Play Protect looks at what comes by USB, and refuses it. */
  verifyAppsOverUsb: boolean;
  /** The active window has no root for accessibility. */
  nullRoot: boolean;
  /** Apps tell of their changes at most this often, as web pages and Compose do; `Infinity`: never. Default: 0, at once. */
  eventIntervalMs: number;
  /** The helper that runs now has worn out: it sees no root. The next one to start sees it again. */
  wornHelper: boolean;
  /** The helper that runs now gets no nodes of web pages. The next one to start gets them. */
  emptyWebPages: boolean;
  /** How long UiAutomation waits for an app's animations before it injects, as on Android 16 with one that never ends. */
  injectionMs: number;
  /** The UiAutomator2 server tells the windows of all displays in one document, each node with the number of its display. */
  listsAllDisplays: boolean;
  /** How long the helper waits for a root before it gives up. Default: 10,000, as the real one. */
  rootWaitMs: number;
  /** The helper answers `/status` and nothing else. */
  wedgedHelper: boolean;
  /** Pictures and trees stay as they are now, whatever happens. */
  frozenScreen: boolean;
  /** Called before the phone tells a tree or takes a picture, as an app would that changes its screen by itself. */
  beforeReading: (() => void) | undefined;
  /** How `uiautomator dump` goes wrong. */
  uiautomator: UiautomatorFault | undefined;
  /** `uiautomator dump` writes `.` for each half of an emoji, as on old Androids. */
  dumpLosesEmoji: boolean;
  /** No video can be encoded: scrcpy's server ends when somebody wants to see. */
  noVideoEncoder: boolean;
  /** Services of Android that are gone, such as `package` or `notification`, as while the system server starts anew. Default: none. */
  missingServices: readonly string[];
  /** `sys.boot_completed` is not set, and the package and activity managers are not there yet. */
  bootNotCompleted: boolean;
}

export interface Faults extends FaultState {
  /** Cuts all connections now. */
  drop(): void;
  /** Turns the screen off, as the power key does. The phone is locked then. */
  turnScreenOff(): void;
  /** Kills the UiAutomator2 server and resident helpers, as the system does when memory is short. */
  killUiServer(): void;
  /** Android ends the server's UiAutomation; the server itself goes on and answers `/status`. */
  killUiAutomation(): void;
  /** Restarts the phone, as a long press of its power key does. */
  reboot(): void;
  /** Crashes the app in front, or the named one. */
  crashApp(packageName?: string): void;
  /** Shows a dialog of the app in front. */
  showDialog(dialog?: Dialog): void;
  /** Sets every field back; what an action did stays done. */
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
