import type { CurrentApp } from '@phalanx/protocol';
import { DriverError } from './driver-error.ts';
import type { PhoneShell } from './phone-shell.ts';
import { shellQuote } from './shell-quote.ts';

const category = 'android.intent.category.LAUNCHER';

/** Brings an app to the front as a tap on its icon does. */
export async function launchApp(shell: PhoneShell, packageName: string, signal: AbortSignal): Promise<void> {
  const component = await findLauncherActivity(shell, packageName, signal);
  const said =
    component === undefined ? 'it has no launcher activity' : await startActivity(shell, component, signal);
  if (said === undefined) return;
  if (!(await isInstalled(shell, packageName, signal))) throw notFound(packageName);
  if (await launchByMonkey(shell, packageName, signal)) return;
  throw new DriverError('app_not_started', `${packageName} is installed but did not start: ${said}.`);
}

async function findLauncherActivity(
  shell: PhoneShell,
  packageName: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const query = `cmd package resolve-activity --brief -c ${category} ${packageName}`;
  const { stdout } = await shell.run(query, signal);
  const last = stdout.trim().split(/\r?\n/).at(-1) ?? '';
  return last.startsWith(`${packageName}/`) && /^[\w.$/]+$/.test(last) ? last : undefined;
}

/** Returns what `am` said when it did not start; its exit code is 0 then as well. */
async function startActivity(
  shell: PhoneShell,
  component: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const intent = `-a android.intent.action.MAIN -c ${category}`;
  // A class name may hold a dollar sign, which the phone's shell would take for a variable.
  const { stdout, stderr } = await shell.run(`am start -W ${intent} -n ${shellQuote(component)}`, signal);
  const said = `${stdout}\n${stderr}`;
  const error = /^(Error\b.*|.*Exception.*|Status: (?!ok|timeout).*)$/m.exec(said)?.[1];
  if (error !== undefined) return error.slice(0, 200);
  return /Status: (ok|timeout)|Starting:/.test(said) ? undefined : said.trim().slice(0, 200);
}

async function launchByMonkey(shell: PhoneShell, packageName: string, signal: AbortSignal): Promise<boolean> {
  const { stdout, stderr } = await shell.run(`monkey -p ${packageName} -c ${category} 1`, signal);
  return /Events injected: 1/.test(stdout) && !/monkey aborted|No activities found/i.test(stdout + stderr);
}

async function isInstalled(shell: PhoneShell, packageName: string, signal: AbortSignal): Promise<boolean> {
  const { stdout } = await shell.run(`pm path ${packageName}`, signal);
  return stdout.includes('package:');
}

export async function stopApp(shell: PhoneShell, packageName: string, signal: AbortSignal): Promise<void> {
  if (!(await isInstalled(shell, packageName, signal))) throw notFound(packageName);
  await shell.run(`am force-stop ${packageName}`, signal);
}

/** The app with the focus. Where it is written moved between Android's versions, hence two places. */
export async function readCurrentApp(shell: PhoneShell, signal: AbortSignal): Promise<CurrentApp> {
  const windows = await shell.run("dumpsys window | grep -E 'mCurrentFocus|mFocusedApp'", signal);
  const focused =
    /mCurrentFocus=Window\{\S+ \S+ ([\w.]+)\/([\w.$]+)\}/.exec(windows.stdout) ??
    /mFocusedApp=.*? ([\w.]+)\/([\w.$]+)/.exec(windows.stdout);
  if (focused !== null) return toCurrentApp(focused);
  const activities = await shell.run("dumpsys activity activities | grep -E 'ResumedActivity'", signal);
  const resumed = /ResumedActivity.*? ([\w.]+)\/([\w.$]+)/.exec(activities.stdout);
  if (resumed !== null) return toCurrentApp(resumed);
  // The notification shade and other windows of the system carry a bare name.
  const other = /mCurrentFocus=Window\{\S+ \S+ ([\w.]+)\}/.exec(windows.stdout)?.[1];
  if (other === undefined)
    throw new DriverError(
      'screen_not_readable',
      'The phone does not say which app is in front; the screen may be off or locked.',
    );
  return { packageName: other.includes('.') ? other : 'com.android.systemui', activity: null };
}

function toCurrentApp([, packageName = '', activity = '']: RegExpExecArray): CurrentApp {
  return { packageName, activity: activity.startsWith('.') ? packageName + activity : activity };
}

function notFound(packageName: string): DriverError {
  return new DriverError('app_not_found', `The app ${packageName} is not installed on the phone.`);
}
