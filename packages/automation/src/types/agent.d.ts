/**
 * The global `agent` of Phalanx automations: how code reaches the phone it runs on.
 * Coordinates are pixels of the screen as it is rotated now, from the top left corner. Durations are milliseconds.
 */
declare const agent: Agent;

interface Agent {
  /** What the launch gave to this run. */
  readonly arguments: AgentArguments;
  readonly control: AgentControl;
  readonly actions: AgentActions;
  readonly apps: AgentApps;
  readonly files: AgentFiles;
  readonly info: AgentInfo;
  readonly utils: AgentUtils;
  /**
   * Runs a line in the phone's shell, as `adb shell` does. It needs a host whose operator has set
   * `PHALANX_ALLOW_SHELL=true`; else it rejects with `not_allowed`. More than 256 KiB of output rejects with
   * `output_too_large`: write it to a file instead.
   */
  shell(command: string, options?: ShellOptions): Promise<ShellResult>;
}

/** Shape of `automationParameters`. Extend it in your project to type your own parameters. */
interface AutomationParameters {
  // oxlint-disable-next-line typescript/no-explicit-any -- users read their own parameters without casts
  [name: string]: any;
}

/** Shape of `jobVariables`. Extend it in your project to type your own variables. */
interface JobVariables {
  // oxlint-disable-next-line typescript/no-explicit-any -- users read their own variables without casts
  [name: string]: any;
}

interface AgentArguments {
  readonly automationParameters: AutomationParameters;
  readonly jobVariables: JobVariables;
}

interface AgentControl {
  /** Ends the run at once, as completed. Nothing after the call runs, not even `finally` blocks. */
  stopCurrentAutomation(): never;
  /**
   * Sets the result of the run, for whoever launched it: `result` of `GET /api/v2/runs/:id` once the run has ended,
   * however it ends. The last value counts. Throws a `TypeError` for what JSON can't hold, and a `RangeError` for more
   * than 64 KiB of JSON.
   */
  setResult(value: unknown): void;
}

/** The same as `agent.control.stopCurrentAutomation()`. */
declare function stopCurrentAutomation(): never;

interface AgentInfo {
  /** Make, model, Android version and screen of the phone. */
  device(): Promise<DeviceInfo>;
}

interface DeviceInfo {
  deviceId: string;
  serial: string;
  brand: string;
  model: string;
  /** Such as `14`. */
  androidVersion: string;
  /** Such as 34. */
  sdkVersion: number;
  screenWidth: number;
  screenHeight: number;
  densityDpi: number;
}

/** Every action rejects with an `AgentError` when the phone could not do it. */
interface AgentActions extends AgentWaits {
  /** Reads the screen: the root node of the active window, with all nodes below it. */
  screenContent(): Promise<AndroidNode>;
  /**
   * All windows on the screen, the front one first: dialogs, the keyboard, the app, bars and overlays. Slower than
   * `screenContent`; while the phone is on the slower way, the active window alone.
   */
  windows(): Promise<readonly AndroidWindow[]>;
  /** Takes a picture of the screen. Default: JPEG of quality 80 in full size. */
  screenshot(options?: ScreenshotOptions | Exclude<ScreenshotRecord, 'none'>): Promise<Screenshot>;

  tap(x: number, y: number): Promise<void>;
  doubleTap(x: number, y: number): Promise<void>;
  /** Presses and holds. Default: 1,000 ms; at most 60,000. */
  longPress(x: number, y: number, durationMs?: number): Promise<void>;
  /** The same as `longPress`. */
  hold(x: number, y: number, durationMs?: number): Promise<void>;
  /** Moves one finger from one point to another. Default: in 300 ms; at most 60,000. */
  swipe(fromX: number, fromY: number, toX: number, toY: number, durationMs?: number): Promise<void>;

  /** Takes what is at the first point to the second: holds it, moves, lets go. Default: in 500 ms; at most 60,000. */
  drag(fromX: number, fromY: number, toX: number, toY: number, durationMs?: number): Promise<void>;
  /**
   * Two fingers around a point, from one distance of each other to another: apart to zoom in, together to zoom out.
   * Default: in 400 ms; at most 60,000. Rejects with `input_refused` while the phone is on the slower way.
   */
  pinch(x: number, y: number, fromDistance: number, toDistance: number, durationMs?: number): Promise<void>;

  /**
   * Types into the focused field, after what is there: text of any script, of up to 10,000 characters. Rejects with
   * `no_focused_field`, and with `text_not_typable` where the field takes no text, and for what is not ASCII while the
   * phone is on the slower way.
   */
  writeText(text: string): Promise<void>;
  /** Empties the focused field. */
  clearText(): Promise<void>;
  /** Presses a key: an Android key code from 0 to 1000, or its name without `KEYCODE_`. */
  inputKey(key: number | AndroidKey): Promise<void>;
  /** Presses a key of the direction pad. */
  dpad(direction: 'up' | 'down' | 'left' | 'right' | 'center'): Promise<void>;

  /**
   * What the keyboard's action key does in the focused field: search, go, send, next, done. It is the key ENTER, which a
   * field of several lines takes for a new line.
   */
  performEditorAction(): Promise<void>;
  /** Closes the soft keyboard when one is shown. */
  hideKeyboard(): Promise<void>;
  /** Presses the confirming button of the dialog in front, or the named one, and gives its label. Rejects with `no_alert`. */
  acceptAlert(button?: string): Promise<string>;
  /** Presses the declining button of the dialog in front, or the named one, and gives its label. Rejects with `no_alert`. */
  dismissAlert(button?: string): Promise<string>;
  /** Turns the screen, and keeps it from turning by itself. */
  rotate(to: 'portrait' | 'landscape' | 'portraitReversed' | 'landscapeReversed'): Promise<void>;
  /** Puts a text of up to 10,000 characters on the clipboard: `inputKey('PASTE')` pastes it. Rejects with `clipboard_refused` while the phone is on the slower way. */
  setClipboard(text: string): Promise<void>;
  /**
   * The text on the clipboard, empty when there is none. Rejects with `clipboard_refused` where the phone doesn't show it:
   * since Android 10 it shows it to the app in front alone.
   */
  getClipboard(): Promise<string>;
  /** The toasts and notifications of the last seconds, as far as the phone tells them. */
  announcements(): Promise<readonly string[]>;

  /** The notifications in the shade, as data. */
  readNotifications(): Promise<readonly PhoneNotification[]>;
  /**
   * Turns the animations of the phone off, or puts them back. When the last run on the phone has ended they are put back
   * by themselves.
   */
  setAnimations(isOn: boolean): Promise<void>;

  back(): Promise<void>;
  home(): Promise<void>;
  /** Opens the list of recent apps. */
  recents(): Promise<void>;
  /** Opens the notification shade. */
  notifications(): Promise<void>;

  /** Starts an app by its package name, such as `com.android.settings`. */
  launchApp(packageName: string): Promise<void>;
  /** Opens an address, such as `https://…` or a deep link, in whatever app takes it, or in the named one. */
  openLink(url: string, packageName?: string): Promise<void>;
  /** Force-stops an app. */
  stopApp(packageName: string): Promise<void>;
  /** The app in front; `activity` is null when the phone does not say. */
  currentApp(): Promise<{ packageName: string; activity: string | null }>;

  /** Does nothing for so long. */
  sleep(durationMs: number): Promise<void>;
}

/**
 * Waits read the screen again and again until it shows what is awaited. When the time is up they reject with a
 * `WaitTimeoutError`, which tells what was seen instead.
 *
 * A slow phone is not charged to the wait: one reading of the screen counts as at most one second of `timeoutMs`,
 * and after the time is up the screen is looked at once more if the last look had begun before.
 */
interface AgentWaits {
  /** Waits for the first node that meets the conditions, as `AndroidNode.filterOne` finds it. */
  waitForNode(conditions: NodeConditions, options?: WaitOptions): Promise<AndroidNode>;
  /** Waits for a node with this text, as `AndroidNode.findTextOne` finds it. */
  waitForText(text: string | RegExp, options?: WaitOptions): Promise<AndroidNode>;
  /** Waits until no node has this text any more. */
  waitForTextGone(text: string | RegExp, options?: WaitOptions): Promise<void>;
  /** Waits for a node with this id, as `AndroidNode.findById` finds it. */
  waitForId(viewId: string, options?: WaitOptions): Promise<AndroidNode>;
  /** Waits until an app is in front. */
  waitForApp(packageName: string, options?: WaitOptions): Promise<AndroidNode>;
  /** Waits until `predicate` gives something truthy for the screen, and gives that. */
  waitFor<T>(
    predicate: (screen: AndroidNode) => T | Promise<T>,
    options?: WaitOptions & { /** For the error: what is awaited. */ description?: string },
  ): Promise<Truthy<T>>;
  /** Waits until the screen has not changed for `quietMs` (default 1,000), and gives it. */
  waitForIdle(options?: WaitOptions & { quietMs?: number }): Promise<AndroidNode>;
  /**
   * Scrolls until a node with this text, or one that meets the conditions, can be touched, and gives it when the list has
   * come to rest: `await (await agent.actions.scrollTo('About phone')).tap()`. It scrolls nothing while the node is in
   * view. At the end of the list it rejects at once with the `WaitTimeoutError`, which says so.
   */
  scrollTo(target: string | RegExp | NodeConditions, options?: ScrollOptions): Promise<AndroidNode>;
}

interface AndroidWindow {
  /** The app that it belongs to. */
  packageName: string;
  /** It is the soft keyboard. */
  isKeyboard: boolean;
  /** Its nodes, as `screenContent` gives those of the active window. */
  root: AndroidNode;
}

interface PhoneNotification {
  packageName: string;
  /** Null when it has none. */
  title: string | null;
  /** Its first line; null when it has none. */
  text: string | null;
}

type Truthy<T> = Exclude<T, false | 0 | 0n | '' | null | undefined>;

interface WaitOptions {
  /** How long to wait. Default 30,000; with 0 the screen is read exactly once. */
  timeoutMs?: number;
  /** Pause between two readings of the screen. Default 250. */
  intervalMs?: number;
  /**
   * Ends the wait at once when it aborts: it rejects with the signal's `reason`. With `AbortSignal.timeout(ms)`, a deadline
   * that several waits can share, it rejects with the `WaitTimeoutError` and what was seen.
   */
  signal?: AbortSignal | null;
}

interface ScrollOptions extends WaitOptions {
  /** Where the node is from what is shown now. Default `down`: the content moves up. */
  direction?: 'down' | 'up' | 'left' | 'right';
  /** What is scrolled: the first node that meets these conditions. Default: the largest scrollable node, else the screen. */
  within?: NodeConditions;
}

interface ScreenshotOptions {
  /** Default `jpeg`. */
  format?: 'jpeg' | 'png';
  /** JPEG quality, 1 to 100. Default 80. */
  quality?: number;
  /** Larger pictures are scaled down to this width, 16 to 10,000. Default: as the screen is. */
  maxWidth?: number;
}

interface Screenshot {
  /** The encoded picture. */
  base64: string;
  mimeType: 'image/jpeg' | 'image/png';
  width: number;
  height: number;
  /** Size of the screen that was taken. */
  originalWidth: number;
  originalHeight: number;
}

/** A call that the phone could not do. `code` is a stable word, such as `device_offline`. */
declare class AgentError extends Error {
  private constructor();
  readonly code: string;
}

/** A wait that ended without what was awaited. Its message tells the story of the wait. */
declare class WaitTimeoutError extends Error {
  private constructor();
  /** What was awaited, in words. */
  readonly awaited: string;
  readonly waitedMs: number;
  /** How often the screen was read. */
  readonly reads: number;
  /** The screens that were seen, changes only, oldest first. */
  readonly seen: readonly { afterMs: number; packageName: string; title: string }[];
  /** What on the last screen comes nearest to what was awaited. */
  readonly nearest: readonly string[];
}

/** Names of key codes of Android, without `KEYCODE_`. */
type AndroidKey =
  | 'HOME'
  | 'BACK'
  | 'DPAD_UP'
  | 'DPAD_DOWN'
  | 'DPAD_LEFT'
  | 'DPAD_RIGHT'
  | 'DPAD_CENTER'
  | 'VOLUME_UP'
  | 'VOLUME_DOWN'
  | 'POWER'
  | 'CAMERA'
  | 'TAB'
  | 'SPACE'
  | 'ENTER'
  | 'DEL'
  | 'MENU'
  | 'SEARCH'
  | 'MEDIA_PLAY_PAUSE'
  | 'PAGE_UP'
  | 'PAGE_DOWN'
  | 'ESCAPE'
  | 'FORWARD_DEL'
  | 'MOVE_HOME'
  | 'MOVE_END'
  | 'APP_SWITCH'
  | 'SLEEP'
  | 'WAKEUP'
  | 'CUT'
  | 'COPY'
  | 'PASTE';
