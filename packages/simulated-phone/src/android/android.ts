import type { App, Dialog } from '../view/app.ts';
import { findActiveWindow, type Screen } from '../screen/screen.ts';
import type { TextField } from '../view/text-field.ts';
import { ActivityStack, componentName, type Task } from './activity-stack.ts';
import { createAppHost, Timers } from './app-host.ts';
import { Battery } from './battery.ts';
import { Boot } from './boot.ts';
import { composeScreen, ShownScreen } from './compose-screen.ts';
import { crashDialog } from './system-ui/dialogs-of-release.ts';
import { type Display, DisplayMode, DisplayPower, LockScreen } from './display/display.ts';
import type { OtherDisplay } from '../screen/other-display.ts';
import { FileSystem } from './file-system.ts';
import { HeadsUp } from './heads-up.ts';
import { type Identity, propertiesOf } from './identity.ts';
import { InputLog } from './input/input-log.ts';
import { Locations } from './locations.ts';
import { Inbox } from './inbox.ts';
import { MediaStore } from './media-store.ts';
import { type Notification, Notices } from './notices.ts';
import { mainUser, Packages } from './packages/packages.ts';
import { revealField } from './input/reveal-field.ts';
import { Settings } from './settings.ts';
import type { KeyboardBack, SystemDialog, Overlay, SystemHost } from './system-host.ts';

export interface AndroidOptions {
  readonly identity: Identity;
  readonly display: Display;
  readonly apps: readonly App[];
  readonly storageBytes: number;
  readonly pin: string | undefined;
  /** Packages whose activities hide the system bars. */
  readonly fullScreenApps: readonly string[];
  /** Time (HH:MM) in the status bar. Undefined: the computer's time. */
  readonly timeOfDay: string | undefined;
}

/** Model of one phone's Android. Every change makes the next access to `screen` rebuild it. */
export class Android implements SystemHost {
  readonly identity: Identity;
  readonly files: FileSystem;
  readonly mediaStore: MediaStore;
  readonly packages: Packages;
  readonly properties: Map<string, string>;
  readonly settings = new Settings();
  /** Taps, swipes, typed texts and pressed keys, newest last. */
  readonly inputs = new InputLog(() => this.#power.used());
  readonly notices = new Notices();
  readonly headsUp = new HeadsUp(() => this.redraw());
  readonly locations = new Locations();
  readonly inbox = new Inbox();
  readonly battery: Battery;
  /** Displays in addition to the main one. */
  otherDisplays: readonly OtherDisplay[] = [];
  readonly fullScreenApps: readonly string[];
  clipboard = '';
  /** Called when the charger is unplugged. */
  onUnplugged: () => void = () => {};
  readonly stack = new ActivityStack();
  /** Timers of apps, by package name. */
  readonly timers = new Timers();
  readonly #timeOfDay: string | undefined;
  readonly #apps: Map<string, App>;
  readonly #preferences = new Map<string, Map<string, boolean>>();

  readonly lockScreen: LockScreen;
  readonly displayMode: DisplayMode;
  readonly #power: DisplayPower;
  readonly shown = new ShownScreen(
    () => composeScreen(this),
    () => [this.clock(), this.isScreenOn, this.isLocked, this.rotation].join(' '),
  );
  #boot: Boot;
  /** Delay between the focus of a field and its keyboard, in ms: a keyboard starts like any other app. */
  keyboardDelayMs = 0;
  keyboardBack: KeyboardBack = 'closes';
  #isKeyboardShown = false;
  #overlay: Overlay;
  #systemDialog: SystemDialog | undefined;

  constructor(options: AndroidOptions) {
    this.identity = options.identity;
    this.fullScreenApps = options.fullScreenApps;
    this.#timeOfDay = options.timeOfDay;
    // The shell reads this ID instead of a per-app one: android-15.0.0_r1, SettingsProvider.java, isNewSsaidSetting.
    this.settings.findTable('secure')?.set('android_id', options.identity.androidId);
    this.displayMode = new DisplayMode(options.display, this.settings);
    this.battery = new Battery(() => this.onUnplugged());
    this.#power = new DisplayPower(this.settings, this.battery);
    this.lockScreen = new LockScreen({
      pin: options.pin,
      onOpened: (byPin) => this.#opened(byPin),
      onChange: () => this.redraw(),
    });
    this.#boot = new Boot('found running', { isUserUnlocked: true, kernelBootId: options.identity.bootId });
    this.files = new FileSystem(options.storageBytes, () => this.#boot);
    this.mediaStore = new MediaStore(this.files);
    this.packages = new Packages(options.identity.sdkVersion);
    this.properties = propertiesOf(options.identity);
    this.#apps = new Map(options.apps.map((app) => [app.packageName, app]));
    for (const { packageName: name, versionCode, versionName, isHome } of options.apps) {
      this.packages.add({ name, versionCode, versionName, isSystem: isHome });
    }
    const home = options.apps.find((app) => app.isHome);
    if (!home) throw new Error('A simulated phone needs one app with isHome.');
    this.startActivity(home.packageName);
  }

  /** Returns the current screen. The object stays the same until something changes. */
  get screen(): Screen {
    return this.shown.current;
  }

  /** Returns the display in its current rotation. */
  get display(): Display {
    return this.displayMode.current;
  }

  /** Rotation in quarter turns. */
  get rotation(): number {
    return this.displayMode.rotation;
  }

  get boot(): Boot {
    return this.#boot;
  }

  get isBooted(): boolean {
    return this.#boot.phase === 'up';
  }

  get isScreenOn(): boolean {
    return this.#power.isOn;
  }

  get isLocked(): boolean {
    return this.#power.isLocked;
  }

  get isKeyboardShown(): boolean {
    return this.#isKeyboardShown && this.focusedField !== undefined;
  }

  get overlay(): Overlay {
    return this.#overlay;
  }

  get systemDialog(): SystemDialog | undefined {
    return this.#systemDialog;
  }

  /** Returns `package/class` of the front activity, regardless of what covers it. */
  get currentActivity(): string {
    return componentName(this.stack.top);
  }

  get currentPackage(): string {
    return this.stack.top.packageName;
  }

  /** Returns the title of the window with the focus; undefined when the screen is off. */
  get currentFocus(): string | undefined {
    return findActiveWindow(this.screen)?.title;
  }

  get focusedField(): TextField | undefined {
    const activity = this.stack.top;
    return activity.dialog ? undefined : activity.focusedField;
  }

  /** Returns the text of the current activity's field with that ID; undefined if there is none. */
  findFieldText(id: string): string | undefined {
    return this.stack.top.fields.get(id)?.text;
  }

  /** Returns the time (HH:MM) in the status bar. */
  clock(): string {
    return this.#timeOfDay ?? new Date().toTimeString().slice(0, 5);
  }

  redraw(): void {
    this.shown.redraw();
  }

  resize(display: Display): void {
    this.displayMode.resize(display);
    this.redraw();
  }

  findApp(packageName: string, user = mainUser): App | undefined {
    const app = this.packages.find(packageName, user) && this.#apps.get(packageName);
    return this.#boot.isUserUnlocked || app?.isHome === true ? app : undefined;
  }

  /**
   * Adds the screens of an app; `packages` contains its package manager entry. A preinstalled app keeps its own
   * screens.
   */
  addApp(app: App): void {
    if (!this.#apps.has(app.packageName)) this.#apps.set(app.packageName, app);
    this.redraw();
  }

  /** Replaces an app with another version, like a store does. */
  updateApp(app: App): void {
    const { packageName, versionCode, versionName, isHome } = app;
    this.forceStop(packageName);
    this.#apps.set(packageName, app);
    this.packages.add({ name: packageName, versionCode, versionName, isSystem: isHome });
    this.redraw();
  }

  listApps(): App[] {
    return [...this.#apps.values()].filter((app) => this.packages.find(app.packageName));
  }

  /** Starts an activity or brings it to front. Returns false if the app or the activity does not exist. */
  startActivity(packageName: string, className?: string, user = mainUser): boolean {
    const app = this.findApp(packageName, user);
    const target = className ?? app?.activities[0];
    if (!app || target === undefined || !app.activities.includes(target)) return false;
    const task = this.stack.find(packageName, user) ?? this.#launch(app, { className: target, user });
    this.stack.bringToFront(task);
    if (className !== undefined) this.stack.open(task, className);
    this.setOverlay(undefined);
    return true;
  }

  /** Posts a notification over the top of the screen, unless the phone is set to show none there. */
  postHeadsUp(notification: Notification, forMs?: number): void {
    this.notices.post(notification);
    const isOff = this.settings.findTable('global')?.get('heads_up_notifications_enabled') === '0';
    if (!isOff) this.headsUp.show(notification, forMs);
  }

  goHome(): void {
    this.stack.goHome();
    this.hideKeyboard();
    this.setOverlay(undefined);
  }

  finishTop(): void {
    const task = this.stack.front;
    this.stack.finishTop(task);
    if (task.activities.length === 0) this.#end(task);
    this.hideKeyboard();
  }

  /** Ends an app together with its state and timers. */
  forceStop(packageName: string, user = mainUser): void {
    const task = this.stack.find(packageName, user);
    if (!task) return;
    if (task.app.isHome) this.stack.restart(task);
    else this.#end(task);
    this.hideKeyboard();
  }

  /** Returns the preferences of an app; they survive its end and a restart of the phone. */
  preferencesOf(packageName: string): Map<string, boolean> {
    const known = this.#preferences.get(packageName) ?? new Map<string, boolean>();
    this.#preferences.set(packageName, known);
    return known;
  }

  /** Ends an app and deletes its data. */
  clearData(packageName: string, user = mainUser): void {
    this.forceStop(packageName, user);
    if (user === mainUser) this.#preferences.delete(packageName);
    this.packages.permissionsOf(packageName, user).clear();
  }

  /** Ends an app like an uncaught exception, and shows a dialog above whatever comes to front. */
  crash(packageName: string): void {
    const label = this.#apps.get(packageName)?.label ?? packageName;
    this.forceStop(packageName);
    const { sdkVersion } = this.identity;
    this.showSystemDialog(crashDialog({ android: this, sdkVersion }, { packageName, label }));
  }

  /** Shows a dialog of the app in front. */
  showDialog(dialog: Dialog | undefined): void {
    this.stack.top.dialog = dialog;
    this.hideKeyboard();
  }

  showSystemDialog(dialog: SystemDialog | undefined): void {
    this.#systemDialog = dialog;
    this.redraw();
  }

  setOverlay(overlay: Overlay): void {
    this.#overlay = overlay;
    this.redraw();
  }

  focus(field: TextField | undefined): void {
    this.stack.top.focusedField = field;
    if (field !== undefined && this.keyboardDelayMs > 0 && !this.#isKeyboardShown)
      this.timers.start('keyboard', this.keyboardDelayMs, () => this.#showKeyboard(field));
    else this.#isKeyboardShown = field !== undefined;
    this.redraw();
    if (field && revealField(this.screen, field)) this.redraw();
  }

  #showKeyboard(field: TextField): void {
    if (this.stack.top.focusedField !== field) return;
    this.#isKeyboardShown = true;
    this.redraw();
    if (revealField(this.screen, field)) this.redraw();
  }

  hideKeyboard(): void {
    this.#isKeyboardShown = false;
    this.redraw();
  }

  setScreenOn(isOn: boolean): void {
    if (!isOn) this.lockScreen.reset();
    this.#power.setOn(isOn);
    this.redraw();
  }

  /** Holds a wake lock; 0 releases it. */
  holdScreen(durationMs: number): void {
    if (durationMs > 0) this.#power.setOn(true);
    this.#power.hold(durationMs);
    this.redraw();
  }

  /** Ends everything that runs; installed apps and stored data stay. The caller advances the boot phases. */
  restart(): Boot {
    this.timers.clear();
    const home = this.listApps().find((app) => app.isHome);
    this.stack.clear();
    this.locations.restart();
    this.#systemDialog = undefined;
    this.#overlay = undefined;
    this.headsUp.hide();
    this.#isKeyboardShown = false;
    this.lockScreen.reset();
    this.#power.setOn(true);
    this.#power.lock();
    const isUserUnlocked = !this.lockScreen.hasPin;
    this.#boot = new Boot('restarted', { isUserUnlocked, kernelBootId: this.identity.bootId });
    if (home) this.startActivity(home.packageName);
    return this.#boot;
  }

  /** Ends all timers of apps. */
  stop(): void {
    this.headsUp.hide();
    this.timers.clear();
  }

  #opened(byPin: boolean): void {
    this.#power.unlock();
    if (byPin) this.#boot.isUserUnlocked = true;
  }

  #launch(app: App, of: { className: string; user: number }): Task {
    const running = app.launch(createAppHost(this, app, of.user), () => this.redraw());
    return this.stack.start(app, running, of);
  }

  #end(task: Task): void {
    this.timers.clear(task.app.packageName);
    this.stack.remove(task);
    this.stack.goHome();
    this.redraw();
  }
}
