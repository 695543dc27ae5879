import type { Dialog } from '../view/app.ts';
import type { TextField } from '../view/text-field.ts';
import type { ActivityStack } from './activity-stack.ts';
import type { Display } from './display/display.ts';
import type { HeadsUp } from './heads-up.ts';
import type { Notices } from './notices.ts';
import type { Settings } from './settings.ts';

/** Overlay above the app: the notification shade or the list of recent apps. */
export type Overlay = 'shade' | 'recents' | undefined;

/**
 * Effect of the BACK key while a keyboard is shown: some apps show it again, and others handle the key before it
 * (View.onKeyPreIme).
 */
export type KeyboardBack = 'closes' | 'shows-again' | 'leaves-page';

/** Phone as seen and changed by the parts of its system: windows, dialogs, Back and Enter. */
export interface SystemHost {
  readonly display: Display;
  readonly settings: Settings;
  readonly stack: ActivityStack;
  readonly isScreenOn: boolean;
  readonly isLocked: boolean;
  /** The prompt of the lock screen. */
  readonly lockScreen: { readonly hint: string };
  readonly rotation: number;
  /** Packages whose activities hide the system bars. */
  readonly fullScreenApps: readonly string[];
  readonly notices: Notices;
  readonly headsUp: HeadsUp;
  readonly isKeyboardShown: boolean;
  readonly keyboardBack: KeyboardBack;
  readonly overlay: Overlay;
  readonly systemDialog: SystemDialog | undefined;
  readonly focusedField: TextField | undefined;
  /** Returns the time (HH:MM) in the status bar. */
  clock(): string;
  redraw(): void;
  /** Starts an activity or brings it to front. Returns false if the app or the activity does not exist. */
  startActivity(packageName: string, className?: string, user?: number): boolean;
  finishTop(): void;
  goHome(): void;
  /** Shows a dialog of the app in front. */
  showDialog(dialog: Dialog | undefined): void;
  showSystemDialog(dialog: SystemDialog | undefined): void;
  setOverlay(overlay: Overlay): void;
  focus(field: TextField | undefined): void;
  hideKeyboard(): void;
}

/** System dialog above everything, such as "App keeps stopping". */
export interface SystemDialog {
  readonly title: string;
  readonly packageName: string;
  readonly options: readonly SystemDialogOption[];
  /** Window of the dialog. Default: that of a dialog about an app, which belongs to Android itself. */
  readonly window?: SystemDialogWindow | undefined;
}

export interface SystemDialogOption {
  readonly id: string;
  readonly label: string;
  /** Whether the button is enabled. Default: true. */
  readonly enabled?: boolean | undefined;
  readonly onTap: () => void;
}

export interface SystemDialogWindow {
  /** Title that `dumpsys window` prints. */
  readonly title: string;
  /** Package that owns its nodes. */
  readonly packageName: string;
  /** ID of the node with the title. */
  readonly titleId: string;
}
