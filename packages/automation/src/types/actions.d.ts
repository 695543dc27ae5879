/**
 * Actions on the phone. An action that the phone could not do rejects with an `AgentError`.
 *
 * @example
 * await agent.actions.launchApp('com.android.settings');
 * const screen = await agent.actions.screenContent();
 * console.log(screen.packageName, screen.getAllNodes().length);
 */
interface AgentActions extends AgentWaits {
  /**
   * Reads the screen and returns the root node of the active window, with all nodes below it. Parts of the
   * screen that the project hides in its `masks.json` have no texts, and are black in pictures: see the
   * reference, "Masks".
   */
  screenContent(options?: ActionOptions): Promise<AndroidNode>;
  /**
   * Returns all windows on the screen, the front one first: dialogs, the keyboard, the app, bars and overlays.
   * Slower than `screenContent`. While the phone is on the slower way, returns only the active window.
   *
   * @example
   * for (const { packageName, isKeyboard, root } of await agent.actions.windows())
   *   console.log(packageName, isKeyboard, root.boundsInScreen);
   */
  windows(): Promise<readonly AndroidWindow[]>;
  /**
   * Takes a picture of the main display. Default: JPEG of quality 80 in full size. Rejects with `secure_screen`
   * when the phone reports a window or a policy that forbids pictures, and with `screen_not_readable` when the
   * screen is off or the phone gave no picture; both messages quote the phone. A picture that is black for no
   * reported cause comes with a `remark`.
   */
  screenshot(options?: ScreenshotOptions | Exclude<ScreenshotRecord, 'none'>): Promise<Screenshot>;

  tap(x: number, y: number): Promise<void>;
  doubleTap(x: number, y: number): Promise<void>;
  /** Presses and holds. Default 1,000 ms; at most 60,000. */
  longPress(x: number, y: number, durationMs?: number, options?: ActionOptions): Promise<void>;
  /** The same as `longPress`. */
  hold(x: number, y: number, durationMs?: number, options?: ActionOptions): Promise<void>;
  /** Moves one finger from one point to another. Default 300 ms; at most 60,000. */
  swipe(
    fromX: number,
    fromY: number,
    toX: number,
    toY: number,
    durationMs?: number,
    options?: ActionOptions,
  ): Promise<void>;

  /** Drags from the first point to the second: presses and holds, moves, lets go. Default 500 ms; at most 60,000. */
  drag(
    fromX: number,
    fromY: number,
    toX: number,
    toY: number,
    durationMs?: number,
    options?: ActionOptions,
  ): Promise<void>;
  /**
   * Moves two fingers around a point, from one distance between them to another, in pixels: apart to zoom in,
   * together to zoom out. Default 400 ms; at most 60,000. Rejects with `input_refused` while the phone is on
   * the slower way.
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
   * Types text of any script, up to 10,000 characters, into the focused field, after the text that is there.
   * Rejects with `no_focused_field`, and with `text_not_typable` when the field accepts no text, or for text
   * beyond ASCII while the phone is on the slower way. A password field that holds text accepts more of it from
   * the run that typed it, within 30 seconds, if nothing else was done to the phone in between; otherwise the
   * call rejects with `text_not_typable`, and `clearText` helps.
   *
   * The field is read back. Its app may show the text in its own form, such as `(555) 123-4567`; a field that
   * does not accept a whole text at once, and boxes of one digit each, get it by key events. If the field then
   * still shows something else, because its app limits or refuses the text, the call rejects with
   * `text_not_kept`, and the message quotes the field. When the page goes on by itself after the last
   * character, there is no field to read, and the call resolves.
   */
  writeText(text: string): Promise<void>;
  /** Empties the focused field. Rejects with `text_not_kept` when the field still shows its whole text. */
  clearText(): Promise<void>;
  /** Presses a key: an Android key code from 0 to 1000, or its name without `KEYCODE_`. */
  inputKey(key: number | AndroidKey): Promise<void>;
  /** Presses a key of the direction pad. */
  dpad(direction: 'up' | 'down' | 'left' | 'right' | 'center'): Promise<void>;

  /**
   * Performs the action of the keyboard's action key in the focused field: search, go, send, next or done.
   * Presses the key ENTER, which a field of several lines takes for a new line.
   */
  performEditorAction(): Promise<void>;
  /**
   * Closes the soft keyboard with the key BACK, and checks that it is gone. Presses nothing while no keyboard
   * has a window. Within a second after a touch, first waits for the keyboard that the touch may have called
   * up. Rejects with `not_done` when the keyboard stays, and with `page_left` when the key went to the app:
   * another window has the focus then.
   */
  hideKeyboard(): Promise<void>;
  /**
   * Presses the confirming button of the dialog in front, or the named one, and returns its label. Dialogs are
   * those of apps (`AlertDialog`, and windows with a margin, text and buttons, as Compose draws them), of
   * permissions (allowed while the app is used, when there is a choice), "keeps stopping" and "isn't
   * responding" (closes the app), those of the installer, and choosers of apps (`Just once`; a name presses an
   * entry). Rejects with `no_alert` when no dialog has such a button, or the button is disabled; the message
   * names the buttons that are there. Rejects with `covered` when another window lies over the button.
   */
  acceptAlert(button?: string): Promise<string>;
  /**
   * Presses the declining button of the dialog in front, or the named one, and returns its label. Denies a
   * permission, and waits for an app that isn't responding; the only button of a dialog both confirms and
   * declines. A chooser of apps has none: it is left with the key BACK, and the label is `BACK`. Rejects as
   * `acceptAlert` does.
   */
  dismissAlert(button?: string): Promise<string>;
  /**
   * Turns the screen, and keeps it from turning by itself. An app with a fixed orientation stays as it is.
   * Rejects with `not_done` when the phone keeps its setting.
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
   * Returns the text on the clipboard, or an empty text when there is none. Rejects with `clipboard_refused`
   * when the phone doesn't reveal it: since Android 10, only the app in front can read it.
   */
  getClipboard(): Promise<string>;
  /**
   * Returns the toasts and notifications of the last seconds, as far as the phone reports them. No phone
   * reports the app of one, so a mask of an app (`masks.json`) hides those of all apps that meet its other
   * conditions.
   */
  announcements(): Promise<readonly string[]>;

  /**
   * Returns the notifications in the shade as data, with their whole texts. A notification that changes all the
   * time is left out. Rejects with `phone_answer_unexpected` when the phone does not report them.
   *
   * @example
   * for (const { packageName, title, text } of await agent.actions.readNotifications())
   *   console.log(packageName, title, text);
   */
  readNotifications(): Promise<readonly PhoneNotification[]>;
  /**
   * Turns the animations of the phone off, or restores them. They are restored by themselves when the run has
   * ended.
   *
   * @example
   * await agent.actions.setAnimations(false);
   * await agent.actions.launchApp('com.android.settings');
   */
  setAnimations(isOn: boolean): Promise<void>;
  /**
   * Changes settings of the phone. The host restores them when the run has ended, however it ends; a setting
   * that several runs on a phone have changed is restored when the last of them has ended. A launch can have
   * settings made before the code starts: `phone_settings`. Rejects with `setting_unsupported` when the phone's
   * Android has no such setting, and with `setting_refused` when the phone does not accept it.
   *
   * @example
   * await agent.actions.setPhoneSettings({ timeZone: 'Europe/Berlin', brightness: 0 });
   */
  setPhoneSettings(settings: PhoneSettings, options?: ActionOptions): Promise<void>;

  back(): Promise<void>;
  home(): Promise<void>;
  /** Opens the list of recent apps. */
  recents(): Promise<void>;
  /**
   * Opens the notification shade. Rejects with `not_done` when it does not open, as on phones whose status bar
   * is disabled.
   */
  notifications(): Promise<void>;

  /** Starts an app by its package name, such as `com.android.settings`. */
  launchApp(packageName: string, options?: AppOptions): Promise<void>;
  /** Opens an address, such as `https://…` or a deep link, in an app that accepts it, or in the named one. */
  openLink(url: string, packageName?: string): Promise<void>;
  /** Force-stops an app. Rejects with `not_done` when its process goes on, as that of an app that manages the phone. */
  stopApp(packageName: string, options?: AppOptions): Promise<void>;
  /** Returns the app in front on the phone's main display; `activity` is null when the phone does not report it. */
  currentApp(): Promise<{ packageName: string; activity: string | null }>;

  /** Waits for this many milliseconds. */
  sleep(durationMs: number): Promise<void>;
}

/**
 * Options of an action.
 *
 * @example
 * // Gives the press up after half a second; the phone is then free for the next action.
 * await agent.actions.hold(540, 1200, 30_000, { signal: AbortSignal.timeout(500) }).catch(() => console.log('let go'));
 * await agent.actions.back();
 */
interface ActionOptions {
  /**
   * Aborts the action: the call rejects at once with the signal's `reason`, and the phone is free for the next
   * one. Android may still complete what it has begun, such as a press or the start of an app.
   */
  signal?: AbortSignal | null;
}

interface AppOptions extends ActionOptions {
  /**
   * ID of the phone's user whose app is meant, one of `agent.apps.users()`, such as that of a work profile.
   * Default: the main user.
   */
  user?: number;
}

interface AndroidWindow {
  /** Package name of the app that the window belongs to. */
  packageName: string;
  /** Whether the window is the soft keyboard. */
  isKeyboard: boolean;
  /** Root node of the window, as `screenContent` returns that of the active window. */
  root: AndroidNode;
}

interface PhoneNotification {
  packageName: string;
  /** Title; null when the notification has none. */
  title: string | null;
  /** First line of the text; null when the notification has none. */
  text: string | null;
}

interface PhoneSettings {
  /** HTTP proxy that apps are told to use, as `host:port`. */
  httpProxy?: string;
  /** Name of a time zone in the IANA database, such as `Europe/Berlin`. */
  timeZone?: string;
  /** Languages of apps, such as `de-DE`, by package name. From Android 13 on. */
  locale?: Record<string, string>;
  /**
   * Location that is reported to apps, which can tell that it is a mock location. Latitude and longitude in
   * degrees. From Android 12 on.
   */
  location?: PhoneLocation;
  /** Brightness of the screen, 0 to 255; 0 is the phone's darkest. */
  brightness?: number;
  /** Whether notifications may lie over the top of the screen when they come. */
  headsUp?: boolean;
}

interface PhoneLocation {
  latitude: number;
  longitude: number;
  /** Accuracy in metres. Default 5. */
  accuracy?: number;
}

interface ScreenshotOptions extends ActionOptions {
  /** Default `jpeg`. */
  format?: 'jpeg' | 'png';
  /** JPEG quality, 1 to 100. Default 80. */
  quality?: number;
  /** Maximum width in pixels, 16 to 10,000; larger pictures are scaled down. Default: the width of the screen. */
  maxWidth?: number;
}

interface Screenshot {
  /** The encoded picture. */
  base64: string;
  mimeType: 'image/jpeg' | 'image/png';
  width: number;
  height: number;
  /** Size of the screen in pixels, before scaling. */
  originalWidth: number;
  originalHeight: number;
  /** A remark on the picture, such as that it is all black for an unreported cause. */
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
