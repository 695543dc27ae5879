/**
 * Every action rejects with an `AgentError` when the phone could not do it.
 *
 * @example
 * await agent.actions.launchApp('com.android.settings');
 * const screen = await agent.actions.screenContent();
 * console.log(screen.packageName, screen.getAllNodes().length);
 */
interface AgentActions extends AgentWaits {
  /**
   * Reads the screen: the root node of the active window, with all nodes below it. What the project hides in its
   * `masks.json` has no texts, and is black in pictures: see the reference, "Masks".
   */
  screenContent(options?: ActionOptions): Promise<AndroidNode>;
  /**
   * All windows on the screen, the front one first: dialogs, the keyboard, the app, bars and overlays. Slower than
   * `screenContent`; while the phone is on the slower way, the active window alone.
   *
   * @example
   * for (const { packageName, isKeyboard, root } of await agent.actions.windows())
   *   console.log(packageName, isKeyboard, root.boundsInScreen);
   */
  windows(): Promise<readonly AndroidWindow[]>;
  /**
   * Takes a picture of the main display. Default: JPEG of quality 80 in full size. Rejects with `secure_screen` when the phone tells of a window
   * or a policy that forbids pictures, and with `screen_not_readable` when the screen is off or the phone gave none; both quote the
   * phone. A picture that is black for no cause that the phone tells is given with a `remark`.
   */
  screenshot(options?: ScreenshotOptions | Exclude<ScreenshotRecord, 'none'>): Promise<Screenshot>;

  tap(x: number, y: number): Promise<void>;
  doubleTap(x: number, y: number): Promise<void>;
  /** Presses and holds. Default: 1,000 ms; at most 60,000. */
  longPress(x: number, y: number, durationMs?: number, options?: ActionOptions): Promise<void>;
  /** The same as `longPress`. */
  hold(x: number, y: number, durationMs?: number, options?: ActionOptions): Promise<void>;
  /** Moves one finger from one point to another. Default: in 300 ms; at most 60,000. */
  swipe(
    fromX: number,
    fromY: number,
    toX: number,
    toY: number,
    durationMs?: number,
    options?: ActionOptions,
  ): Promise<void>;

  /** Takes what is at the first point to the second: holds it, moves, lets go. Default: in 500 ms; at most 60,000. */
  drag(
    fromX: number,
    fromY: number,
    toX: number,
    toY: number,
    durationMs?: number,
    options?: ActionOptions,
  ): Promise<void>;
  /**
   * Two fingers around a point, from one distance of each other to another: apart to zoom in, together to zoom out.
   * Default: in 400 ms; at most 60,000. Rejects with `input_refused` while the phone is on the slower way.
   */
  pinch(
    x: number,
    y: number,
    fromDistance: number,
    toDistance: number,
    durationMs?: number,
    options?: ActionOptions,
  ): Promise<void>;

  /**
   * Types into the focused field, after what is there: text of any script, of up to 10,000 characters. Rejects with
   * `no_focused_field`, and with `text_not_typable` where the field takes no text, and for what is not ASCII while the
   * phone is on the slower way. A password field that holds a text takes more of it from the run that typed it, within 30
   * seconds, while nothing else was done to the phone: else it is `text_not_typable`, and `clearText` helps.
   *
   * The field is read back. Its app may show the text in its own form, such as `(555) 123-4567`; a field that does not take a whole text at
   * once, and boxes of one digit each, get it by key events. Where the field then still shows something else, because its app limits or
   * refuses what is typed, it fails with `text_not_kept`, and the message has what the field shows. When the page goes on by itself after
   * the last character, there is no field to read, and the call resolves.
   */
  writeText(text: string): Promise<void>;
  /** Empties the focused field. Rejects with `text_not_kept` where the field still shows all that it showed. */
  clearText(): Promise<void>;
  /** Presses a key: an Android key code from 0 to 1000, or its name without `KEYCODE_`. */
  inputKey(key: number | AndroidKey): Promise<void>;
  /** Presses a key of the direction pad. */
  dpad(direction: 'up' | 'down' | 'left' | 'right' | 'center'): Promise<void>;

  /**
   * Does what the keyboard's action key does in the focused field: search, go, send, next, done. It is the key ENTER, which a
   * field of several lines takes for a new line.
   */
  performEditorAction(): Promise<void>;
  /**
   * Closes the soft keyboard by the key BACK, and looks whether it is gone. Presses nothing while no keyboard has a window. Within a second
   * after a touch it waits for the keyboard that the touch may have called for. Rejects with `not_done` where the keyboard stays, and with
   * `page_left` where the key went to the app: another window has the focus then.
   */
  hideKeyboard(): Promise<void>;
  /**
   * Presses the confirming button of the dialog in front, or the named one, and gives the label that was pressed. Dialogs are: of apps
   * (`AlertDialog`, and windows with a margin, text and buttons, as Compose draws them), of permissions (allowed while the app is used, where
   * there is a choice), "keeps stopping" and "isn't responding" (closes the app), of the installer, and choosers of apps (`Just once`; a name
   * presses an entry). Rejects with `no_alert` where no dialog has such a button, and where the button is off; the message names those that
   * are there. Rejects with `covered` where another window lies over the button.
   */
  acceptAlert(button?: string): Promise<string>;
  /**
   * Presses the declining button of the dialog in front, or the named one, and gives the label that was pressed: it denies a permission and
   * waits for an app that isn't responding; the only button of a dialog both confirms and declines. A chooser of apps has none: it is left by
   * the key BACK, and the label is `BACK`. Rejects as `acceptAlert`.
   */
  dismissAlert(button?: string): Promise<string>;
  /**
   * Turns the screen, and keeps it from turning by itself. An app that has one orientation alone stays as it is. Rejects with `not_done`
   * where the phone keeps its setting.
   */
  rotate(to: 'portrait' | 'landscape' | 'portraitReversed' | 'landscapeReversed'): Promise<void>;
  /**
   * Puts a text of up to 10,000 characters on the clipboard: `inputKey('PASTE')` pastes it. It is gone when the run ends.
   * Rejects with `clipboard_refused` while the phone is on the slower way.
   *
   * @example
   * await agent.actions.launchApp('dev.phalanx.sample.form');
   * await (await agent.actions.waitForId('name')).tap();
   * await agent.actions.setClipboard('مرحبا');
   * await agent.actions.inputKey('PASTE');
   */
  setClipboard(text: string): Promise<void>;
  /**
   * The text on the clipboard, empty when there is none. Rejects with `clipboard_refused` where the phone doesn't show it:
   * since Android 10 it shows it to the app in front alone.
   */
  getClipboard(): Promise<string>;
  /**
   * The toasts and notifications of the last seconds, as far as the phone tells them. No phone tells which app one is of, so a
   * mask of an app (`masks.json`) leaves out all that its other conditions permit.
   */
  announcements(): Promise<readonly string[]>;

  /**
   * The notifications in the shade, as data, with their whole texts. One that changes all the time is left out. Rejects with
   * `phone_answer_unexpected` when the phone does not tell them.
   *
   * @example
   * for (const { packageName, title, text } of await agent.actions.readNotifications())
   *   console.log(packageName, title, text);
   */
  readNotifications(): Promise<readonly PhoneNotification[]>;
  /**
   * Turns the animations of the phone off, or puts them back. When the run has ended they are put back by themselves.
   *
   * @example
   * await agent.actions.setAnimations(false);
   * await agent.actions.launchApp('com.android.settings');
   */
  setAnimations(isOn: boolean): Promise<void>;
  /**
   * Changes settings of the phone. The host puts them back when the run has ended, however it ends; where several runs on a
   * phone change the same one, with the last of them. A launch can have them set before the code starts:
   * `phone_settings`. Rejects with `setting_unsupported` where the phone's Android has no such setting, and with
   * `setting_refused` where the phone does not take it.
   *
   * @example
   * await agent.actions.setPhoneSettings({ timeZone: 'Europe/Berlin', brightness: 0 });
   */
  setPhoneSettings(settings: PhoneSettings, options?: ActionOptions): Promise<void>;

  back(): Promise<void>;
  home(): Promise<void>;
  /** Opens the list of recent apps. */
  recents(): Promise<void>;
  /** Opens the notification shade. Rejects with `not_done` where it does not come, as on phones whose status bar is closed. */
  notifications(): Promise<void>;

  /** Starts an app by its package name, such as `com.android.settings`. */
  launchApp(packageName: string, options?: AppOptions): Promise<void>;
  /** Opens an address, such as `https://…` or a deep link, in whatever app takes it, or in the named one. */
  openLink(url: string, packageName?: string): Promise<void>;
  /** Force-stops an app. Rejects with `not_done` where its process goes on, as of an app that manages the phone. */
  stopApp(packageName: string, options?: AppOptions): Promise<void>;
  /** The app in front on the phone's main display; `activity` is null when the phone does not say. */
  currentApp(): Promise<{ packageName: string; activity: string | null }>;

  /** Does nothing for so long. */
  sleep(durationMs: number): Promise<void>;
}

/**
 * How long an action is wanted.
 *
 * @example
 * // Whichever comes first; the press does not keep the phone from what comes next.
 * await agent.actions.hold(540, 1200, 30_000, { signal: AbortSignal.timeout(500) }).catch(() => console.log('let go'));
 * await agent.actions.back();
 */
interface ActionOptions {
  /**
   * Gives the action up when it aborts: the call rejects at once with the signal's `reason`, and the phone is free for the
   * next one. What Android has already begun, such as a press or the start of an app, it may bring to its end.
   */
  signal?: AbortSignal | null;
}

interface AppOptions extends ActionOptions {
  /** The user of the phone whose app is meant: one of `agent.apps.users()`, such as that of a work profile. Default: the main user. */
  user?: number;
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

interface PhoneSettings {
  /** The proxy that apps are told of, as `host:port`. */
  httpProxy?: string;
  /** Name of the IANA time zone database, such as `Europe/Berlin`. */
  timeZone?: string;
  /** The language of apps, such as `de-DE`, by their package names. From Android 13 on. */
  locale?: Record<string, string>;
  /**
   * Location that is reported to apps, which can tell that it is a mock location. Latitude and longitude in
   * degrees. From Android 12 on.
   */
  location?: PhoneLocation;
  /** Brightness of the screen, 0 to 255; 0 is as dark as the phone goes. */
  brightness?: number;
  /** Whether notifications may lie over the top of the screen when they come. */
  headsUp?: boolean;
}

interface PhoneLocation {
  latitude: number;
  longitude: number;
  /** Metres. Default 5. */
  accuracy?: number;
}

interface ScreenshotOptions extends ActionOptions {
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
  /** A remark on the picture, such as that it is all black, and the phone does not tell why. */
  remark?: string;
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
