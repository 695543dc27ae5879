import { DriverError } from '../driver-error.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';

/** Finds out why a picture is missing or black; undefined when the phone does not report it. Never rejects. */
export type ExplainPicture = () => Promise<DriverError | undefined>;

const askingMs = 3000;

/** Output limit: a phone lists some hundred windows, each with a line of flags. */
const windowLines = { maxBytes: 256 * 1024 };
const windowsQuestion =
  "dumpsys window windows | grep -E '^  Window #|mDisplayId=| package=|fl=|isOnScreen=true'";

/**
 * Explains a missing or black picture by what the phone reports: by windows of the app, and by others that can be seen.
 * The app is undefined when the picture has no tree.
 */
export function explainerOf(shell: PhoneShell, packageName: string | undefined): ExplainPicture {
  const ask = async (): Promise<DriverError | undefined> => {
    const signal = AbortSignal.timeout(askingMs);
    const [power, policy, windows] = await Promise.all([
      shell.run('dumpsys power | grep mWakefulness=', signal),
      shell.run("dumpsys device_policy | grep 'Screen capture disallowed user'", signal),
      shell.run(windowsQuestion, signal, windowLines),
    ]);
    return screenOff(power.stdout) ?? forbidden(policy.stdout) ?? secureWindow(windows.stdout, packageName);
  };
  return () => ask().catch(() => undefined);
}

const quoted = (line: string): string => `"${line.trim().replaceAll(/\s+/g, ' ').slice(0, 200)}"`;

function screenOff(power: string): DriverError | undefined {
  const line = /^[ \t]*mWakefulness=(?:Asleep|Dozing)/m.exec(power)?.[0];
  if (line === undefined) return undefined;
  return new DriverError(
    'screen_not_readable',
    `There is no picture: the screen is off, as the phone tells by ${quoted(line)}.`,
  );
}

/**
 * Returns the error when a policy forbids pictures. AOSP 13 and newer, DevicePolicyCacheImpl: -1 is each user, and 0
 * the main one. Up to AOSP 13 it is one number without brackets.
 */
function forbidden(policy: string): DriverError | undefined {
  const [line = '', users = ''] =
    /^[ \t]*Screen capture disallowed users?: \[?([-\d, ]{1,100})\]?/m.exec(policy) ?? [];
  if (!users.split(',').some((user) => user.trim() === '-1' || user.trim() === '0')) return undefined;
  return new DriverError(
    'secure_screen',
    `There is no picture: whoever manages the phone forbids pictures of its screen, as the phone tells by ${quoted(line)}.`,
  );
}

interface ToldWindow {
  displayId: string;
  packageName: string;
  /** Line that shows that the window forbids pictures. */
  secureLine: string | undefined;
  isOnScreen: boolean;
}

const flagSecure = 0x2000;

/**
 * Parses the windows. AOSP, WindowState.dump and WindowManager.LayoutParams.toString: flags are names from Android 8.1
 * on, and a number before.
 */
function toldWindows(printed: string): ToldWindow[] {
  const windows: ToldWindow[] = [];
  for (const line of printed.split('\n')) {
    const window = windows.at(-1);
    if (line.startsWith('  Window #'))
      windows.push({ displayId: '0', packageName: '', secureLine: undefined, isOnScreen: false });
    else if (window !== undefined) {
      window.displayId = /^[ \t]*mDisplayId=(\d{1,10})\b/.exec(line)?.[1] ?? window.displayId;
      window.packageName = /^[ \t]*mOwnerUid=.* package=(\S+)/.exec(line)?.[1] ?? window.packageName;
      if (isSecure(line)) window.secureLine = line;
      if (line.includes('isOnScreen=true')) window.isOnScreen = true;
    }
  }
  return windows;
}

function isSecure(line: string): boolean {
  const [, number, names] = /(?:^|[ {])fl=(?:#([\da-f]{1,8})|([A-Z_ ]+))/.exec(line) ?? [];
  if (number !== undefined) return (Number.parseInt(number, 16) & flagSecure) !== 0;
  return names !== undefined && names.split(' ').includes('SECURE');
}

function secureWindow(printed: string, packageName: string | undefined): DriverError | undefined {
  const window = toldWindows(printed).find(
    (one) =>
      one.secureLine !== undefined &&
      one.displayId === '0' &&
      (one.isOnScreen || one.packageName === packageName),
  );
  if (window?.secureLine === undefined) return undefined;
  return new DriverError(
    'secure_screen',
    `There is no picture: a window of ${window.packageName.slice(0, 255)} forbids pictures of the screen (FLAG_SECURE), as the phone tells by ${quoted(window.secureLine)}.`,
  );
}

/** Remark on a picture that shows nothing for an unknown reason. */
export const blackRemark =
  'The picture is all black, and the phone does not tell why. Apps can draw black by themselves, and protected video is black in pictures.';

/** Returns the error when the phone's picture shows something, but the hidden parts cover all of it. */
export const coveredPicture = (): DriverError =>
  new DriverError(
    'secure_screen',
    'There is no picture: what is hidden of the screen (masks.json of the project, password fields and secrets) covers all that the picture of the phone shows.',
  );

/** Asks a phone that gave no picture for the reason. */
export async function explained<T>(take: Promise<T>, explain: ExplainPicture): Promise<T> {
  try {
    return await take;
  } catch (error) {
    if (!(error instanceof DriverError) || error.code !== 'screen_not_readable') throw error;
    throw (await explain()) ?? error;
  }
}
