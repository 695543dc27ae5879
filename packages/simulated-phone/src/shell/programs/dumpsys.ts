import type { Phone } from '../../phone.ts';
import type { Window } from '../../view/view.ts';
import type { Program } from '../program.ts';
import type { Display } from '../../android/display/display.ts';
import { listed, mainPanel, type OtherDisplay } from '../../screen/other-display.ts';
import { findActiveWindow } from '../../screen/screen.ts';
import { notificationDump } from './notification-dump.ts';

// AOSP, BatteryService.dumpInternal. Without a battery, the health HAL reports the initial values of its fields; 1 is
// unknown.
const battery = ({ android: { battery: state } }: Phone) => `Current Battery Service state:
  AC powered: ${state.isPlugged && !state.isPresent}
  USB powered: ${state.isPlugged && state.isPresent}
  Wireless powered: false
  Max charging current: ${state.isPresent ? 500_000 : 0}
  status: ${state.isPresent ? (state.isPlugged ? 2 : 3) : 1}
  health: ${state.isPresent ? state.health : 1}
  present: ${state.isPresent}
  level: ${state.isPresent ? state.level : 0}
  scale: 100
  voltage: ${state.isPresent ? state.voltage : 0}
  temperature: ${state.isPresent ? Math.round(state.temperature * 10) : 0}
  technology: ${state.isPresent ? 'Li-ion' : ''}
${state.extra}`;

function power({ android }: Phone): string {
  const state = android.isScreenOn ? 'ON' : 'OFF';
  return `POWER MANAGER (dumpsys power)

Power Manager State:
  mWakefulness=${android.isScreenOn ? 'Awake' : 'Asleep'}
  mIsPowered=${android.battery.isPlugged}
  mPlugType=2
  mStayOn=false
  mHoldingDisplaySuspendBlocker=${android.isScreenOn}
Display Power: state=${state}
`;
}

const [visible, gone] = ['0x0', '0x8'];
const windowTypes: ReadonlyMap<string, string> = new Map([
  ['StatusBar', 'STATUS_BAR'],
  ['NavigationBar0', 'NAVIGATION_BAR'],
  ['NotificationShade', 'NOTIFICATION_SHADE'],
  ['InputMethod', 'INPUT_METHOD'],
]);

const regionOf = ({ touchable }: ListedWindow['window']): string =>
  touchable === undefined
    ? ''
    : `    mTouchableInsets=3 mGivenInsetsPending=false\n    touchable region=SkRegion((${touchable.left},${touchable.top},${touchable.right},${touchable.bottom}))\n`;

/** Whether the window belongs to an activity; the titles of others are plain words. */
const isOfActivity = ({ title }: Window): boolean => title.includes('/');

interface ListedWindow {
  readonly window: Pick<Window, 'title'> &
    Partial<Pick<Window, 'focusable' | 'modal' | 'touchable'>> & {
      readonly root: Pick<Window['root'], 'frame' | 'packageName'>;
    };
  readonly displayId: number;
  readonly isSecure: boolean;
  readonly isShown: boolean;
}

/** Returns the windows of all displays, in the order of the displays, front one first in each. */
function windowsOf({ android, faults }: Phone, isListed: (window: Window) => boolean): ListedWindow[] {
  const front = findActiveWindow(android.screen);
  const own = android.screen.windows.filter(isListed).map((window) => ({
    window,
    displayId: 0,
    isSecure: faults.secureWindow && window === front,
    isShown: true,
  }));
  const ofOther = ({ id, windows: others }: OtherDisplay): ListedWindow[] =>
    others.filter(isListed).map((window) => ({ window, displayId: id, isSecure: false, isShown: true }));
  return listed(own, android.otherDisplays, ofOther).flatMap((ofOne) => ofOne.toReversed());
}

/** Formats a window like WindowState.dump and WindowManager.LayoutParams.toString; `isVisible` since Android 9. */
function windowState(given: ListedWindow, index: number, sdkVersion: number): string {
  const { window, displayId, isShown } = given;
  const { title, root } = window;
  const { left, top, right, bottom } = root.frame;
  const type = windowTypes.get(title) ?? 'BASE_APPLICATION';
  return (
    `  Window #${index} Window{${index}c3e4b1 u0 ${title}}:\n    mDisplayId=${displayId} mSession=Session{b1 1:u0a1} mClient=android.os.BinderProxy@b1\n` +
    `    mOwnerUid=10101 showForAllUsers=false package=${root.packageName} appop=NONE\n` +
    `    mAttrs={(0,0)(fillxfill) ty=${type}\n      ${flagsOf(given, sdkVersion)}}\n${regionOf(window)}` +
    `    mViewVisibility=${isShown ? visible : gone} mHaveFrame=true\n    Frames: frame=[${left},${top}][${right},${bottom}]\n` +
    `    mHasSurface=${isShown} isReadyForDisplay()=${isShown} mWindowRemovalAllowed=false\n` +
    `    isOnScreen=${isShown}\n` +
    (sdkVersion < 28 ? '' : `    isVisible=${isShown}\n`)
  );
}

const statesOf = ({ android: { identity } }: Phone, shown: readonly ListedWindow[]): string =>
  `WINDOW MANAGER WINDOWS (dumpsys window windows)\n${shown.map((window, index) => windowState(window, index, identity.sdkVersion)).join('')}`;

/** Prints `dumpsys window windows` and `visible-apps`. */
function windowList(phone: Phone, isListed: (window: Window) => boolean): string {
  const { stack, currentFocus } = phone.android;
  return `${statesOf(phone, windowsOf(phone, isListed))}\n  mCurrentFocus=Window{5c3e4b1 u${stack.front.user} ${currentFocus ?? 'null'}}\n`;
}

/**
 * Prints `dumpsys window NAME`: all windows with that text in their title. The keyboard's window exists even while
 * hidden.
 */
function windowsNamed(phone: Phone, name: string): string {
  const frame = { left: 0, top: 0, right: 0, bottom: 0 };
  const keyboard: ListedWindow = {
    window: { title: 'InputMethod', root: { frame, packageName: 'com.android.inputmethod.latin' } },
    displayId: 0,
    isSecure: false,
    isShown: false,
  };
  const shown = windowsOf(phone, ({ title }) => title.includes(name));
  const hidden = !phone.android.isKeyboardShown && keyboard.window.title.includes(name) ? [keyboard] : [];
  const named = [...hidden, ...shown];
  if (named.length === 0) return `Bad window command, or no windows match: ${name}\nUse -h for help.\n`;
  return statesOf(phone, named);
}

/**
 * Returns the flags of a window, such as NOT_TOUCH_MODAL for one that leaves touches around it to others. Up to
 * Android 8.0 they are a number: LayoutParams.toString has names from android-8.1.0_r1 on.
 */
function flagsOf({ window: { focusable, modal }, isSecure }: ListedWindow, sdkVersion: number): string {
  const flags = [
    ...(focusable === true ? [] : [{ name: 'NOT_FOCUSABLE', bit: 0x8 }]),
    ...(modal === true ? [] : [{ name: 'NOT_TOUCH_MODAL', bit: 0x20 }]),
    ...(isSecure ? [{ name: 'SECURE', bit: 0x2000 }] : []),
  ];
  if (sdkVersion < 27) return `fl=#${flags.reduce((all, { bit }) => all + bit, 0x8181_0100).toString(16)}`;
  const names = flags.map(({ name }) => name);
  return `fl=${['LAYOUT_IN_SCREEN', ...names, 'LAYOUT_INSET_DECOR', 'SPLIT_TOUCH', 'HARDWARE_ACCELERATED'].join(' ')}`;
}

function activityRecord({ android }: Phone): string {
  return `ActivityRecord{8d1f0a2 u${android.stack.front.user} ${android.currentActivity} t${android.stack.front.id}}`;
}

/** Formats displays like DisplayContent.dump, which includes the focus of each display from Android 10 on. */
function displayContents(phone: Phone): string {
  const { android } = phone;
  const focus = android.currentFocus;
  const main = displayContent({
    id: 0,
    ...android.display,
    rotation: android.rotation,
    focus: focus === undefined ? undefined : `Window{5c3e4b1 u${android.stack.front.user} ${focus}}`,
    app: activityRecord(phone),
  });
  return listed(main, android.otherDisplays, ({ focus: title, activity, ...display }) =>
    displayContent({
      ...display,
      rotation: 0,
      focus: title === undefined ? undefined : `Window{9${display.id}e4b1 u0 ${title}}`,
      app: activity === undefined ? 'null' : `ActivityRecord{3${display.id}f0a2 u0 ${activity} t9}`,
    }),
  ).join('');
}

interface DumpedDisplay extends Display {
  readonly id: number;
  readonly rotation: number;
  readonly focus: string | undefined;
  readonly app: string;
}

function displayContent({ id, width, height, density, rotation, focus, app }: DumpedDisplay): string {
  const area = `${width}x${height}`;
  return `  Display: mDisplayId=${id}
    init=${area} ${density}dpi cur=${area} app=${area} rng=${width}x${width}-${height}x${height}
    mCurrentRotation=ROTATION_${rotation * 90}
  mCurrentFocus=${focus ?? 'null'}
  mFocusedApp=${app}
`;
}

function windows(phone: Phone, [what]: readonly string[]): string {
  if (what === 'windows' || what === 'visible') return windowList(phone, () => true);
  if (what === 'visible-apps') return windowList(phone, isOfActivity);
  if (what !== undefined && /^[A-Z]/.test(what)) return windowsNamed(phone, what);
  const { android } = phone;
  return `WINDOW MANAGER POLICY STATE (dumpsys window policy)
    mAwake=${android.isScreenOn}
    KeyguardServiceDelegate
      showing=${android.isLocked}
      inputRestricted=${android.isLocked}
      secure=${android.lockScreen.hasPin}
    mShowingLockscreen=${android.isLocked} mDreamingLockscreen=${android.isLocked}
WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)
${displayContents(phone)}`;
}

/**
 * Formats a viewport like DisplayViewport.toString (frameworks/base, android.hardware.display), which maps a display
 * ID to its panel.
 */
function viewport(id: number, uniqueId: string, { width, height }: Display, rotation: number): string {
  const [type, kind] = uniqueId.startsWith('local:') ? ['INTERNAL', 0] : ['VIRTUAL', 'null'];
  const frame = `Rect(0, 0 - ${width}, ${height})`;
  return `DisplayViewport{type=${type}, valid=true, isActive=true, displayId=${id}, uniqueId='${uniqueId}', physicalPort=${kind}, orientation=${rotation}, logicalFrame=${frame}, physicalFrame=${frame}, deviceWidth=${width}, deviceHeight=${height}}`;
}

function displayManager({ android }: Phone): string {
  const main = viewport(0, `local:${mainPanel}`, android.display, android.rotation);
  const viewports = listed(main, android.otherDisplays, ({ id, physicalId, name, ...display }) =>
    viewport(
      id,
      physicalId === undefined
        ? `virtual:com.android.shell,2000,${name ?? 'cluster'},${id}`
        : `local:${physicalId}`,
      display,
      0,
    ),
  );
  return `DISPLAY MANAGER (dumpsys display)\n  mScreenState=${android.isScreenOn ? 'ON' : 'OFF'}\n  mViewports=[${viewports.join(', ')}]\n  orientation=${android.rotation}\n`;
}

/** Prints `dumpsys SurfaceFlinger --display-id`, from Android 10 on: panels only. */
function panels({ android }: Phone): string {
  const withPanel = android.otherDisplays.filter(({ physicalId }) => physicalId !== undefined);
  const ids = listed(mainPanel, withPanel, ({ physicalId }) => physicalId ?? '');
  return ids
    .map(
      (id, at) => `Display ${id} (HWC display ${at}): port=${at} pnpId=SIM displayName="SIM_display_${at}"\n`,
    )
    .join('');
}

/** Prints DevicePolicyCacheImpl.dump of AOSP 14; -1 means all users. */
const devicePolicy = ({ faults }: Phone) =>
  `Device policy cache:\n  Screen capture disallowed users: [${faults.forbidsCapture ? '-1' : ''}]\n  Password quality: {0=0}\n`;

const foregroundPermission = 'android.permission.FOREGROUND_SERVICE';

/** Prints the services of an app. An app that may have a foreground service has one while it runs. */
function appServices({ android }: Phone, packageName: string): string {
  const isRunning = android.stack.find(packageName) !== undefined;
  const mayHave = android.packages.find(packageName)?.permissions?.includes(foregroundPermission) === true;
  const record = `  * ServiceRecord{6e2f9d1 u0 ${packageName}/.ForegroundService}\n    isForeground=true foregroundId=1\n`;
  return `ACTIVITY MANAGER SERVICES (dumpsys activity services)\n${isRunning && mayHave ? record : '  (nothing)\n'}`;
}

function activities(phone: Phone, [what, packageName = '']: readonly string[]): string {
  const { android } = phone;
  if (what === 'services') return appServices(phone, packageName);
  const record = activityRecord(phone);
  const tasks = android.stack
    .listRecent()
    .map((task) => `  * Task{3a1 #${task.id} type=standard A=10101:${task.app.packageName}}\n`);
  return `ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)
Display #0 (activities from top to bottom):
${tasks.join('')}  ${android.identity.release.resumedKey}=${record}

  ResumedActivity: ${record}
  KeyguardController:
    mKeyguardShowing=${android.isLocked}
`;
}

function packageDump({ android }: Phone, name: string): string {
  const users = android.packages.listUsers();
  const entry = users.flatMap((user) => android.packages.find(name, user) ?? [])[0];
  if (!entry) return `\nUnable to find package: ${name}\n`;
  return `Packages:
  Package [${name}] (7a1b2c3):
    userId=10101
    versionCode=${entry.versionCode} minSdk=26 targetSdk=34
    versionName=${entry.versionName}
    flags=[ HAS_CODE ALLOW_CLEAR_USER_DATA ]
${users.map((user) => `    User ${user}: ceDataInode=0 installed=${android.packages.find(name, user) !== undefined} hidden=false suspended=false\n`).join('')}    runtime permissions:
${[...android.packages.permissionsOf(name)].map((permission) => `      ${permission}: granted=true, flags=[ USER_SET ]\n`).join('')}`;
}

function inputMethod({ android, faults }: Phone): string {
  const isShown = android.isKeyboardShown || faults.claimsKeyboard;
  const id = android.settings.findTable('secure')?.get('default_input_method') ?? '';
  return `Current Input Method Manager state:\n  mCurMethodId=${id}\n  mShowRequested=${isShown} mInputShown=${isShown}\n  mIsInputViewShown=${isShown}\n`;
}

type Dump = (phone: Phone, args: readonly string[]) => string;

const services: ReadonlyMap<string, Dump> = new Map<string, Dump>([
  ['activity', activities],
  ['battery', battery],
  ['device_policy', devicePolicy],
  ['display', displayManager],
  [
    'input',
    ({ android }) => `INPUT MANAGER (dumpsys input)\n      SurfaceOrientation: ${android.rotation}\n`,
  ],
  ['input_method', inputMethod],
  ['notification', notificationDump],
  ['package', (phone, args) => packageDump(phone, args.find((arg) => !arg.startsWith('-')) ?? '')],
  ['power', power],
  ['SurfaceFlinger', panels],
  ['window', windows],
]);

/** Runs `dumpsys SERVICE [ARGS]`. A missing service is reported with exit code 0. */
export const dumpsys: Program = async ({ phone, args, stdout, stderr }) => {
  const [name, ...rest] = args;
  if (name === undefined || name === '-l') {
    await stdout.write(`Currently running services:\n  ${[...services.keys()].join('\n  ')}\n`);
    return 0;
  }
  const isThere = phone.isBooted && !phone.faults.missingServices.includes(name);
  const service = isThere ? services.get(name) : undefined;
  if (service) await stdout.write(service(phone, rest));
  else await stderr.write(`Can't find service: ${name}\n`);
  return 0;
};
