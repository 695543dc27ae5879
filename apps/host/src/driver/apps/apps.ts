import type { PhoneUser } from '@phalanx/protocol';
import { lookUntil } from '../../time/look-until.ts';
import { withTimeLimit } from '../../time/time-limit.ts';
import { DriverError } from '../driver-error.ts';
import { type PhoneShell, type ShellResult, shellQuote } from '../shell/phone-shell.ts';
import { toldAnswer, unexpectedAnswer } from '../shell/told-answer.ts';

const category = 'android.intent.category.LAUNCHER';

/** Timeout in ms of `am start -W`, which waits until the app has drawn. On a dark screen no app draws. */
const startWaitMs = 15_000;

/** App of a user; without a user, of the main user. */
export interface AppOfUser {
  readonly packageName: string;
  readonly user?: number | undefined;
}

/**
 * Launcher for the apps of one phone. Caches the activity with which an app starts: later launches need one round trip.
 */
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
  await requireInstalled(shell, app, path, signal);
  // Monkey starts only what the main user has.
  if (user === undefined && (await launchByMonkey(shell, packageName, signal))) return;
  throw new DriverError('app_not_started', `${packageName} is installed but did not start: ${said}.`);
}

/**
 * Finds the launcher activity. With several, Android resolves to its own chooser, so the first of the list is taken.
 */
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

/** Returns the output of `am` when the activity did not start; its exit code is 0 then as well. */
async function startActivity(
  shell: PhoneShell,
  { component, user }: { component: string; user: number | undefined },
  signal: AbortSignal,
): Promise<string | undefined> {
  const intent = `${userOption(user)} -a android.intent.action.MAIN -c ${category}`.trim();
  // A class name may hold a dollar sign, which the phone's shell would take for a variable.
  return await amStart(shell, `${intent} -n ${shellQuote(component)}`, signal);
}

/** Opens a link in any app that handles it, or in the named one. */
export async function openLink(
  shell: PhoneShell,
  { url, packageName }: { url: string; packageName?: string | undefined },
  signal: AbortSignal,
): Promise<void> {
  const inApp = packageName === undefined ? '' : ` -p ${packageName}`;
  const said = await amStart(shell, `-a android.intent.action.VIEW -d ${shellQuote(url)}${inApp}`, signal);
  if (said === undefined) return;
  if (/^(?:Error: Activity not started, unable to resolve|[\w.]{1,80}: No Activity found)/i.test(said))
    throw new DriverError('app_not_found', `No app on the phone opens ${url.slice(0, 200)}.`);
  throw new DriverError('app_not_started', `${url.slice(0, 200)} was not opened: ${said}.`);
}

async function amStart(shell: PhoneShell, intent: string, signal: AbortSignal): Promise<string | undefined> {
  const onTimeout = (): Error => new StartTimeout();
  try {
    const answer = await withTimeLimit({ timeoutMs: startWaitMs, signals: [signal], onTimeout }, (limit) =>
      shell.run(`am start -W ${intent}`, limit),
    );
    return notStarted(answer);
  } catch (error) {
    if (!(error instanceof StartTimeout)) throw error;
    return `it drew nothing in ${startWaitMs / 1000} s; the screen may be off or locked`;
  }
}

/**
 * Output after a successful start. The lines after the status are figures, and the last line is `Complete`. The intent
 * precedes the status, with the address and the names of apps.
 */
const startedEnd =
  /(?:^|\n)Status: (?:ok|timeout)(?:\n(?:LaunchState|Activity|ThisTime|TotalTime|WaitTime): [^\n]{0,600}){0,5}\n?(?:Complete)?\s*$/;

/** Returns the output of `am` when it started nothing. */
function notStarted({ stdout, stderr, exitCode = 0 }: ShellResult): string | undefined {
  const printed = stdout.replaceAll('\r', '');
  if (startedEnd.test(printed)) return undefined;
  const failure = startFailure.exec(stderr) ?? startFailure.exec(printed);
  if (failure !== null) return failure[0].trim().slice(0, 200);
  // Some phones print no status.
  if (exitCode === 0 && printed.startsWith('Starting:')) return undefined;
  return `${printed}\n${stderr}`.trim().slice(0, 200) || 'am printed nothing';
}

const startFailure =
  /^(?:Error\b|Security exception|[\w.]{1,80}(?:Exception|Error): |cmd: |Warning: Activity not started|Status: )[^\n]*$/m;

class StartTimeout extends Error {}

async function launchByMonkey(shell: PhoneShell, packageName: string, signal: AbortSignal): Promise<boolean> {
  const { stdout, stderr } = await shell.run(`monkey -p ${packageName} -c ${category} 1`, signal);
  return /Events injected: 1/.test(stdout) && !/monkey aborted|No activities found/i.test(stdout + stderr);
}

/** Maximum time in ms for the processes of a large app to end. */
const endsWithinMs = 2000;
const lookMs = 100;

/**
 * Force-stops an app, and checks that its processes have ended. Throws `not_done` when a process keeps running: Android
 * reports nothing when it does not stop an app, such as one that manages the phone. Checks nothing for a given user,
 * because processes of different users can't be told apart.
 */
export async function stopApp(shell: PhoneShell, app: AppOfUser, signal: AbortSignal): Promise<void> {
  const of = `${userOption(app.user)} ${app.packageName}`;
  const ask = `pidof ${app.packageName} 2>/dev/null`;
  const answer = await shell.run(
    `pm path${of} && (echo before; ${ask}; am force-stop${of}; echo after; ${ask})`,
    signal,
  );
  await requireInstalled(shell, app, answer, signal);
  const refusal = /^.*(?:Exception|Permission Denial|^Error).*$/m.exec(
    `${answer.stderr}\n${answer.stdout}`,
  )?.[0];
  if (refusal !== undefined) throw notStopped(app, refusal.trim().slice(0, 200));
  const [before = [], after = []] = answer.stdout
    .split(/^(?:before|after)\r?$/m)
    .slice(1)
    .map(processesIn);
  const isOver = (running: readonly string[]): boolean => !before.some((id) => running.includes(id));
  if (app.user !== undefined || isOver(after)) return;
  const look = async (): Promise<readonly string[]> => processesIn((await shell.run(ask, signal)).stdout);
  const until = performance.now() + endsWithinMs;
  const left = await lookUntil(look, { fits: isOver, until, pauseMs: lookMs, signal });
  if (!isOver(left)) throw notStopped(app, `its process still runs ${endsWithinMs / 1000} s later`);
}

const processesIn = (printed: string): string[] => printed.match(/\b\d{1,10}\b/g) ?? [];

const notStopped = ({ packageName }: AppOfUser, why: string): DriverError =>
  new DriverError('not_done', `The phone did not stop ${packageName}: ${why}.`);

/**
 * Throws unless `pm path` has printed where the app is installed. Throws `app_not_found` when it printed nothing, as it
 * does for a missing app.
 */
export async function requireInstalled(
  shell: PhoneShell,
  app: AppOfUser,
  answer: ShellResult,
  signal: AbortSignal,
): Promise<void> {
  const { stdout, stderr, exitCode = 0 } = answer;
  requireUser(answer, app.user);
  if (/^package:/m.test(stdout)) return;
  const isSilent = `${stdout}${stderr}`.trim() === '' && (exitCode === 0 || exitCode === 1);
  if (isSilent) throw await appNotFound(shell, app, signal);
  throw unexpectedAnswer(`whether ${app.packageName} is installed`, answer);
}

/** Returns the error for an app that is not installed for the user. Names the users for whom it is installed. */
async function appNotFound(
  shell: PhoneShell,
  { packageName, user }: AppOfUser,
  signal: AbortSignal,
): Promise<DriverError> {
  const users = await listUsersOf(shell, packageName, signal);
  const forWhom = user === undefined ? ' for the main user' : ` for user ${user}`;
  const isNowhere = users?.length === 0 && user === undefined;
  const [other] = users ?? [];
  const elsewhere =
    other === undefined
      ? ''
      : `, but for user ${users?.join(' and ')} of the phone, such as its work profile: give { user: ${other} }`;
  return new DriverError(
    'app_not_found',
    `The app ${packageName} is not installed${isNowhere ? ' on the phone' : forWhom}${elsewhere}.`,
  );
}

/** Returns the user option for Android's programs, with a leading space; empty for the main user. */
export const userOption = (user: number | undefined): string => (user === undefined ? '' : ` --user ${user}`);

export async function listUsers(shell: PhoneShell, signal: AbortSignal): Promise<PhoneUser[]> {
  const answer = await shell.run('pm list users', signal);
  const stdout = toldAnswer(answer, { sign: /^Users:/m, what: 'who uses it' });
  return [...stdout.matchAll(/^[ \t]*UserInfo\{(\d+):(.*):[0-9a-f]+\}( running)?[ \t\r]*$/gm)].map(
    ([, id, name = '', running]) => ({ id: Number(id), name, isRunning: running !== undefined }),
  );
}

/** Throws when the phone has reported that it has no such user, or that it denies the computer access to the user. */
export function requireUser({ stdout, stderr }: ShellResult, user: number | undefined): void {
  const said = `${stdout}\n${stderr}`;
  if (user === undefined) return;
  if (/does not have permission to access user|DISALLOW_DEBUGGING_FEATURES/i.test(said))
    throw new DriverError(
      'user_refused',
      `The phone does not let the computer to user ${user}: whoever manages it has forbidden debugging there.`,
    );
  if (noUser.test(said))
    throw new DriverError('user_refused', `The phone has no user ${user}; agent.apps.users() lists them.`);
}

/**
 * Messages about a missing user. Most contain the number, because an app or a file may have a name with the same words.
 */
const noUser =
  /invalid user(?: id)?:? \d|no such user|\buser '?\d{1,9}'?:? (?:does not exist|doesn't exist|not found)/i;

/**
 * Lists the users for whom an app is installed. Undefined when the phone does not report them, like old releases for an
 * app that they don't have.
 */
async function listUsersOf(
  shell: PhoneShell,
  packageName: string,
  signal: AbortSignal,
): Promise<number[] | undefined> {
  const lines = "' installed=true|^Packages:|^Unable to find package'";
  const { stdout } = await shell.run(`dumpsys package ${packageName} | grep -E ${lines}`, signal);
  if (stdout === '') return undefined;
  return [...stdout.matchAll(/^[ \t]*User (\d+):/gm)].map(([, id]) => Number(id));
}
