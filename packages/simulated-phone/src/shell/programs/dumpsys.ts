import type { Phone } from '../../phone.ts';
import type { Window } from '../../view/view.ts';
import type { Program } from '../program.ts';

const battery = ({ android }: Phone) => `Current Battery Service state:
  AC powered: false
  USB powered: ${android.battery.isPlugged}
  Wireless powered: false
  Max charging current: 500000
  status: ${android.battery.isPlugged ? 2 : 3}
  health: ${android.battery.health}
  present: true
  level: ${android.battery.level}
  scale: 100
  voltage: 4320
  temperature: ${Math.round(android.battery.temperature * 10)}
  technology: Li-ion
${android.battery.extra}`;

/** One record a notification, in the words of NotificationRecord.dump; of texts the lengths alone, unless they are asked for. */
function notifications({ android }: Phone, args: readonly string[]): string {
  const string = (value: string) =>
    args.includes('--noredact') ? `String (${value})` : `String [length=${value.length}]`;
  const records = android.notices.notifications.map(
    ({ packageName, title, text }, index) =>
      `    NotificationRecord(0x0${index}a1: pkg=${packageName} user=UserHandle{0} id=${index} tag=null importance=3 key=0|${packageName}|${index}|null|1000: Notification(channel=C))\n` +
      `      uid=1000 userId=0\n      extras={\n          android.title=${string(title)}\n          android.text=${string(text)}\n      }\n`,
  );
  return `Current Notification Manager state:\n  Notification List:\n${records.join('')}  \n  mArchive=Archive (0 notifications)\n`;
}

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

const visible = '0x0';
const windowTypes: ReadonlyMap<string, string> = new Map([
  ['StatusBar', 'STATUS_BAR'],
  ['NavigationBar0', 'NAVIGATION_BAR'],
]);

/** Whether an activity has it; others are named by a word. */
const isOfActivity = ({ title }: Window): boolean => title.includes('/');

/** `dumpsys window windows` and `visible-apps`, the front one first, in the words of WindowState.dump. */
function windowList({ android }: Phone, isListed: (window: Window) => boolean): string {
  const listed = android.screen.windows.filter(isListed);
  const states = listed.toReversed().map(({ title, root }, index) => {
    const { left, top, right, bottom } = root.frame;
    const type = windowTypes.get(title) ?? 'BASE_APPLICATION';
    return (
      `  Window #${index} Window{${index}c3e4b1 u0 ${title}}:\n    mDisplayId=0 mSession=Session{b1 1:u0a1} mClient=android.os.BinderProxy@b1\n` +
      `    mOwnerUid=10101 showForAllUsers=false package=${root.packageName} appop=NONE\n` +
      `    mAttrs={(0,0)(fillxfill) ty=${type}}\n    mViewVisibility=${visible} mHaveFrame=true\n    Frames: frame=[${left},${top}][${right},${bottom}]\n`
    );
  });
  return `WINDOW MANAGER WINDOWS (dumpsys window windows)\n${states.join('')}\n  mCurrentFocus=Window{5c3e4b1 u${android.stack.front.user} ${android.currentFocus ?? 'null'}}\n`;
}

function activityRecord({ android }: Phone): string {
  return `ActivityRecord{8d1f0a2 u${android.stack.front.user} ${android.currentActivity} t${android.stack.front.id}}`;
}

function windows(phone: Phone, [what]: readonly string[]): string {
  if (what === 'windows') return windowList(phone, () => true);
  if (what === 'visible-apps') return windowList(phone, isOfActivity);
  const { android } = phone;
  const { width, height, density } = android.display;
  const focus = android.currentFocus;
  const area = `${width}x${height}`;
  return `WINDOW MANAGER POLICY STATE (dumpsys window policy)
    mAwake=${android.isScreenOn}
    KeyguardServiceDelegate
      showing=${android.isLocked}
      inputRestricted=${android.isLocked}
      secure=${android.lockScreen.hasPin}
    mShowingLockscreen=${android.isLocked} mDreamingLockscreen=${android.isLocked}
WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)
  Display: mDisplayId=0
    init=${area} ${density}dpi cur=${area} app=${area} rng=${width}x${width}-${height}x${height}
    mCurrentRotation=ROTATION_${android.rotation * 90}
  mCurrentFocus=${focus === undefined ? 'null' : `Window{5c3e4b1 u${android.stack.front.user} ${focus}}`}
  mFocusedApp=${activityRecord(phone)}
`;
}

const foregroundPermission = 'android.permission.FOREGROUND_SERVICE';

/** An app that may have a service in the foreground has it while it runs. */
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

function inputMethod({ android }: Phone): string {
  const isShown = android.isKeyboardShown;
  const id = android.settings.findTable('secure')?.get('default_input_method') ?? '';
  return `Current Input Method Manager state:\n  mCurMethodId=${id}\n  mShowRequested=${isShown} mInputShown=${isShown}\n  mIsInputViewShown=${isShown}\n`;
}

type Dump = (phone: Phone, args: readonly string[]) => string;

const services: ReadonlyMap<string, Dump> = new Map<string, Dump>([
  ['activity', activities],
  ['battery', battery],
  [
    'display',
    (phone) =>
      `DISPLAY MANAGER (dumpsys display)\n  mScreenState=${phone.android.isScreenOn ? 'ON' : 'OFF'}\n  orientation=${phone.android.rotation}\n`,
  ],
  [
    'input',
    ({ android }) => `INPUT MANAGER (dumpsys input)\n      SurfaceOrientation: ${android.rotation}\n`,
  ],
  ['input_method', inputMethod],
  ['notification', notifications],
  ['package', (phone, args) => packageDump(phone, args.find((arg) => !arg.startsWith('-')) ?? '')],
  ['power', power],
  [
    'SurfaceFlinger',
    () => 'Display 4619827259835644672 (HWC display 0): port=0 pnpId=SIM displayName="SIM_display_0"\n',
  ],
  ['window', windows],
]);

/** `dumpsys SERVICE [ARGS]`. A missing service is told, and the exit code still is 0. */
export const dumpsys: Program = async ({ phone, args, stdout, stderr }) => {
  const [name, ...rest] = args;
  if (name === undefined || name === '-l') {
    await stdout.write(`Currently running services:\n  ${[...services.keys()].join('\n  ')}\n`);
    return 0;
  }
  const service = phone.isBooted ? services.get(name) : undefined;
  if (service) await stdout.write(service(phone, rest));
  else await stderr.write(`Can't find service: ${name}\n`);
  return 0;
};
