import { isDeepStrictEqual } from 'node:util';
import type { CurrentApp, PhoneUser, RecordedApp } from '@phalanx/protocol';
import { withTimeLimit } from '../../time/time-limit.ts';
import { DriverError } from '../driver-error.ts';
import { type PhoneShell, type ShellResult, shellQuote } from '../shell/phone-shell.ts';

const category = 'android.intent.category.LAUNCHER';

/** `am start -W` waits until the app has drawn, which on a dark screen no app does. */
const startWaitMs = 15_000;

/** Without a user: of the main one. */
export interface AppOfUser {
  readonly packageName: string;
  readonly user?: number | undefined;
}

/** The apps of one phone. Where an app starts is asked once: what launches it later needs one trip. */
export interface AppLauncher {
  /** Brings an app to the front as a tap on its icon does. */
  launch(app: AppOfUser, signal: AbortSignal): Promise<void>;
}

export function createAppLauncher(shell: PhoneShell): AppLauncher {
  const known = new Map<string, string>();
  return {
    async launch(app, signal) {
      const { packageName, user } = app;
      const key = `${user ?? ''}/${packageName}`;
      const remembered = known.get(key);
      if (
        remembered !== undefined &&
        (await startActivity(shell, { component: remembered, user }, signal)) === undefined
      )
        return;
      known.delete(key);
      const component = await findLauncherActivity(shell, app, signal);
      const said =
        component === undefined
          ? 'it has no launcher activity'
          : await startActivity(shell, { component, user }, signal);
      if (said !== undefined) return await launchOtherwise(shell, app, { said, signal });
      if (component !== undefined) known.set(key, component);
    },
  };
}

async function launchOtherwise(
  shell: PhoneShell,
  app: AppOfUser,
  { said, signal }: { said: string; signal: AbortSignal },
): Promise<void> {
  const { packageName, user } = app;
  const path = await shell.run(`pm path${userOption(user)} ${packageName}`, signal);
  requireUser(path, user);
  if (!path.stdout.includes('package:')) throw await appNotFound(shell, app, signal);
  // It starts what the main user has.
  if (user === undefined && (await launchByMonkey(shell, packageName, signal))) return;
  throw new DriverError('app_not_started', `${packageName} is installed but did not start: ${said}.`);
}

/** With several launcher activities, Android resolves to its own chooser: then the first one of the list is it. */
async function findLauncherActivity(
  shell: PhoneShell,
  { packageName, user }: AppOfUser,
  signal: AbortSignal,
): Promise<string | undefined> {
  const intent = `${userOption(user)} --brief -a android.intent.action.MAIN -c ${category} ${packageName}`;
  const { stdout } = await shell.run(
    `cmd package resolve-activity${intent}; cmd package query-activities${intent}`,
    signal,
  );
  const lines = stdout.split('\n').map((line) => line.trim());
  return lines.find((line) => line.startsWith(`${packageName}/`) && /^[\w.$/]+$/.test(line));
}

/** Returns what `am` said when it did not start; its exit code is 0 then as well. */
async function startActivity(
  shell: PhoneShell,
  { component, user }: { component: string; user: number | undefined },
  signal: AbortSignal,
): Promise<string | undefined> {
  const intent = `${userOption(user)} -a android.intent.action.MAIN -c ${category}`.trim();
  // A class name may hold a dollar sign, which the phone's shell would take for a variable.
  return await amStart(shell, `${intent} -n ${shellQuote(component)}`, signal);
}

/** Opens an address in whatever app takes it, or in the named one. */
export async function openLink(
  shell: PhoneShell,
  { url, packageName }: { url: string; packageName?: string | undefined },
  signal: AbortSignal,
): Promise<void> {
  const inApp = packageName === undefined ? '' : ` -p ${packageName}`;
  const said = await amStart(shell, `-a android.intent.action.VIEW -d ${shellQuote(url)}${inApp}`, signal);
  if (said === undefined) return;
  if (/unable to resolve|No Activity found/i.test(said))
    throw new DriverError('app_not_found', `No app on the phone opens ${url.slice(0, 200)}.`);
  throw new DriverError('app_not_started', `${url.slice(0, 200)} was not opened: ${said}.`);
}

async function amStart(shell: PhoneShell, intent: string, signal: AbortSignal): Promise<string | undefined> {
  const onTimeout = (): Error => new StartTimeout();
  try {
    const { stdout, stderr } = await withTimeLimit(
      { timeoutMs: startWaitMs, signals: [signal], onTimeout },
      (limit) => shell.run(`am start -W ${intent}`, limit),
    );
    const said = `${stdout}\n${stderr}`;
    const error = /^(Error\b.*|.*Exception.*|Status: (?!ok|timeout).*)$/m.exec(said)?.[1];
    if (error !== undefined) return error.slice(0, 200);
    return /Status: (ok|timeout)|Starting:/.test(said) ? undefined : said.trim().slice(0, 200);
  } catch (error) {
    if (!(error instanceof StartTimeout)) throw error;
    return `it drew nothing in ${startWaitMs / 1000} s; the screen may be off or locked`;
  }
}

class StartTimeout extends Error {}

async function launchByMonkey(shell: PhoneShell, packageName: string, signal: AbortSignal): Promise<boolean> {
  const { stdout, stderr } = await shell.run(`monkey -p ${packageName} -c ${category} 1`, signal);
  return /Events injected: 1/.test(stdout) && !/monkey aborted|No activities found/i.test(stdout + stderr);
}

export async function stopApp(shell: PhoneShell, app: AppOfUser, signal: AbortSignal): Promise<void> {
  const of = `${userOption(app.user)} ${app.packageName}`;
  const answer = await shell.run(`pm path${of} && am force-stop${of}`, signal);
  requireUser(answer, app.user);
  if (!answer.stdout.includes('package:')) throw await appNotFound(shell, app, signal);
}

/**
 * The app with the focus. The name of an activity is its app's and no other's, while the title of a window is whatever an app gives
 * it: a window counts as that of another app only where Android tells no activity with the focus.
 */
export async function readCurrentApp(shell: PhoneShell, signal: AbortSignal): Promise<CurrentApp> {
  const windows = await shell.run("dumpsys window | grep -E 'mCurrentFocus|mFocusedApp'", signal);
  const title = /^[ \t]*mCurrentFocus=Window\{\S{1,40} \S{1,40} ([\w.$/]{1,500})\}/m.exec(
    windows.stdout,
  )?.[1];
  const focused = activitiesIn(windows.stdout, 'mFocusedApp');
  const [activity] = focused;
  // A title may hold line ends, and so lines that tell of an activity: all of them have to agree.
  const isCertain = activity !== undefined && focused.every((one) => isDeepStrictEqual(one, activity));
  const isOfSystem = title !== undefined && !title.includes('/') && title !== activity?.packageName;
  if (isOfSystem && (isCertain || !title.includes('.'))) return { packageName: systemUi, activity: null };
  if (isCertain) return title === activity.packageName ? { ...activity, activity: null } : activity;
  const named = title === undefined ? undefined : appOfTitle(title);
  if (named !== undefined && activity === undefined) return named;
  const resumed = await shell.run("dumpsys activity activities | grep -E 'ResumedActivity'", signal);
  const [started] = activitiesIn(resumed.stdout, '(?:top|m)?ResumedActivity');
  if (started !== undefined) return started;
  throw new DriverError(
    'screen_not_readable',
    'The phone does not say which app is in front; the screen may be off or locked.',
  );
}

/** The window of the notification shade, and of whatever else of the system has a bare name; the app below has no focus. */
const systemUi = 'com.android.systemui';

function appOfTitle(title: string): CurrentApp {
  const [packageName = '', activity = ''] = title.split('/', 2);
  return activity === '' ? { packageName, activity: null } : toCurrentApp(packageName, activity);
}

/** Finds the records of activities in lines that begin with that name, up to Android 9 within others. */
function activitiesIn(printed: string, name: string): CurrentApp[] {
  const line = new RegExp(`^[ \\t]*${name}[=:] ?([^\\n]*)$`, 'gm');
  return [...printed.matchAll(line)].flatMap(([, record = '']) => {
    const [, packageName, activity] = / u\d{1,6} ([\w.]{1,255})\/([\w.$]{1,255})[ }]/.exec(record) ?? [];
    return packageName === undefined || activity === undefined ? [] : [toCurrentApp(packageName, activity)];
  });
}

const toCurrentApp = (packageName: string, activity: string): CurrentApp => ({
  packageName,
  activity: activity.startsWith('.') ? packageName + activity : activity,
});

/** Who looks for it is told for whom of the phone it is installed. */
export async function appNotFound(
  shell: PhoneShell,
  { packageName, user }: AppOfUser,
  signal: AbortSignal,
): Promise<DriverError> {
  const users = await listUsersOf(shell, packageName, signal);
  const [other] = users;
  const forWhom = user === undefined ? '' : ` for user ${user}`;
  const why =
    other === undefined
      ? `is not installed on the phone${forWhom}`
      : `is not installed${forWhom || ' for the main user'}, but for user ${users.join(' and ')} of the phone, such as its work profile: give { user: ${other} }`;
  return new DriverError('app_not_found', `The app ${packageName} ${why}.`);
}

/** For programs of Android, with a space before it; nothing for the main user. */
export const userOption = (user: number | undefined): string => (user === undefined ? '' : ` --user ${user}`);

export async function listUsers(shell: PhoneShell, signal: AbortSignal): Promise<PhoneUser[]> {
  const { stdout } = await shell.run('pm list users', signal);
  return [...stdout.matchAll(/^[ \t]*UserInfo\{(\d+):(.*):[0-9a-f]+\}( running)?[ \t\r]*$/gm)].map(
    ([, id, name = '', running]) => ({ id: Number(id), name, isRunning: running !== undefined }),
  );
}

/** Throws when the phone has said that it has no such user, or does not let the computer there. */
export function requireUser({ stdout, stderr }: ShellResult, user: number | undefined): void {
  const said = `${stdout}\n${stderr}`;
  if (user === undefined) return;
  if (/does not have permission to access user|DISALLOW_DEBUGGING_FEATURES/i.test(said))
    throw new DriverError(
      'user_refused',
      `The phone does not let the computer to user ${user}: whoever manages it has forbidden debugging there.`,
    );
  if (saysNoUser(said.toLowerCase()))
    throw new DriverError('user_refused', `The phone has no user ${user}; agent.apps.users() lists them.`);
}

function saysNoUser(said: string): boolean {
  if (said.includes('invalid user') || said.includes('no such user')) return true;
  return said.split('\n').some((line) => {
    const user = line.indexOf('user ');
    return user !== -1 && ['does not exist', 'not found'].some((end) => line.includes(end, user));
  });
}

/** The users for whom an app is installed. */
async function listUsersOf(shell: PhoneShell, packageName: string, signal: AbortSignal): Promise<number[]> {
  const { stdout } = await shell.run(`dumpsys package ${packageName} | grep ' installed=true'`, signal);
  return [...stdout.matchAll(/^[ \t]*User (\d+):/gm)].map(([, id]) => Number(id));
}

/** Between what the parts of the command print. */
const mark = 'phalanx-mark';

/** A name of Android's own or of an app; what goes into a shell command has no other signs. */
const packageForm = /^[A-Za-z][A-Za-z0-9_.]{0,254}$/;

/** One command tells all: each way to the phone and back costs more than what it prints. */
const commandOf = (packageName: string): string =>
  [
    "dumpsys window | grep -E 'mCurrentFocus|mFocusedApp'",
    'getprop persist.sys.locale; getprop ro.product.locale',
    `dumpsys package ${packageName} | grep versionName=`,
  ].join(`; echo ${mark}; `);

/** The activity only while the app is in front. What a phone prints may be anything: what has another form is left out. */
export async function readAppFacts(
  shell: PhoneShell,
  packageName: string,
  signal: AbortSignal,
): Promise<RecordedApp> {
  const nothing = { package: packageName.slice(0, 255), activity: null, version: null, language: null };
  if (!packageForm.test(packageName)) return nothing;
  const { stdout } = await shell.run(commandOf(packageName), signal);
  const [windows = '', locales = '', versions = ''] = stdout.split(mark);
  return {
    package: packageName,
    activity: activityOf(packageName, windows),
    version: versionIn(versions),
    language: languageIn(locales),
  };
}

/** Of a dialog of the app, and below the notification shade, the focused app tells it. */
function activityOf(packageName: string, windows: string): string | null {
  const shown = [...windows.matchAll(/ u\d+ ([\w.]+)\/([\w.$]+)[ }]/g)].find(
    ([, owner]) => owner === packageName,
  );
  const name = shown?.[2];
  if (name === undefined) return null;
  return `${name.startsWith('.') ? packageName : ''}${name}`.slice(0, 255);
}

/** Of an updated app of the system, the first one is of the update. */
function versionIn(lines: string): string | null {
  // oxlint-disable-next-line no-control-regex -- that is what must not be in it
  const version = /^[ \t]*versionName=([^\u0000-\u001f\u007f]{1,100})[ \t\r]*$/m.exec(lines)?.[1]?.trim();
  return version === undefined || version === '' || version === 'null' ? null : version.toWellFormed();
}

/** The second one is of the maker: it counts where nobody has chosen another. */
function languageIn(lines: string): string | null {
  const tags = lines.split('\n').map((line) => line.trim());
  return tags.find((tag) => /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}$/.test(tag))?.slice(0, 35) ?? null;
}
