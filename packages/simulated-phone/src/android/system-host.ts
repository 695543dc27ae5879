import type { Dialog } from '../view/app.ts';
import type { TextField } from '../view/text-field.ts';
import type { ActivityStack } from './activity-stack.ts';
import type { Display } from './display/display.ts';
import type { HeadsUp } from './heads-up.ts';
import type { Notices } from './notices.ts';
import type { Settings } from './settings.ts';

/** The overlay over the app: the notification shade or the list of recent apps. */
export type Overlay = 'shade' | 'recents' | undefined;

/** Effects of the key BACK while a keyboard is shown: apps show it again, and take the key before it (View.onKeyPreIme). */
export type KeyboardBack = 'closes' | 'shows-again' | 'leaves-page';

/** The phone as the parts of its system see and change it: its windows, its dialogs, back and enter. */
export interface SystemHost {
  readonly display: Display;
  readonly settings: Settings;
  readonly stack: ActivityStack;
  readonly isScreenOn: boolean;
  readonly isLocked: boolean;
  /** The prompt of the lock screen. */
  readonly lockScreen: { readonly hint: string };
  readonly rotation: number;
  /** Packages whose activities hide the bars. */
  readonly fullScreenApps: readonly string[];
  readonly notices: Notices;
  readonly headsUp: HeadsUp;
  readonly isKeyboardShown: boolean;
  readonly keyboardBack: KeyboardBack;
  readonly overlay: Overlay;
  readonly systemDialog: SystemDialog | undefined;
  readonly focusedField: TextField | undefined;
  /** HH:MM of the status bar. */
  clock(): string;
  redraw(): void;
  /** Starts or brings to front. False when there is no such app or activity. */
  startActivity(packageName: string, className?: string, user?: number): boolean;
  finishTop(): void;
  goHome(): void;
  /** A dialog of the app in front. */
  showDialog(dialog: Dialog | undefined): void;
  showSystemDialog(dialog: SystemDialog | undefined): void;
  setOverlay(overlay: Overlay): void;
  focus(field: TextField | undefined): void;
  hideKeyboard(): void;
}

/** A dialog of the system above everything, such as "App keeps stopping". */
export interface SystemDialog {
  readonly title: string;
  readonly packageName: string;
  readonly options: readonly SystemDialogOption[];
  /** Default: that of a dialog about an app, which is a window of Android itself. */
  readonly window?: SystemDialogWindow | undefined;
}

export interface SystemDialogOption {
  readonly id: string;
  readonly label: string;
  /** Default: true. */
  readonly enabled?: boolean | undefined;
  readonly onTap: () => void;
}

export interface SystemDialogWindow {
  /** The name that `dumpsys window` prints. */
  readonly title: string;
  /** Owner of its nodes. */
  readonly packageName: string;
  /** ID of the node with the title. */
  readonly titleId: string;
}
