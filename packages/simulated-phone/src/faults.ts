import type { Dialog } from './apps/app.ts';

export type UiautomatorFault = 'idle' | 'null-root' | 'killed' | 'noise-before-xml';

/** What goes wrong on this phone. Fields can be set at any time and hold until they are set back. */
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
  /** `screencap` writes a warning before the picture, as phones with several displays do. */
  screencapWarning: boolean;
  /** Installing and `input` are forbidden, as on phones with a second switch for USB debugging. */
  restrictedDebugging: boolean;
  /** How `uiautomator dump` goes wrong. */
  uiautomator: UiautomatorFault | undefined;
  /** `sys.boot_completed` is not set, and the package and activity managers are not there yet. */
  bootNotCompleted: boolean;
}

export interface Faults extends FaultState {
  /** Cuts all connections now. */
  drop(): void;
  /** Turns the screen off, as the power key does. The phone is locked then. */
  turnScreenOff(): void;
  /** Kills the UiAutomator2 server, as the system does when memory is short. */
  killUiServer(): void;
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
    screencapWarning: false,
    restrictedDebugging: false,
    uiautomator: undefined,
    bootNotCompleted: false,
  };
}
