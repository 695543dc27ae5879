import { isDeepStrictEqual } from 'node:util';
import type { CurrentApp } from '@phalanx/protocol';

import { DriverError } from '../driver-error.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';

/** Prints the focus lines of all displays, below the headings of the displays. */
export const focusQuestion =
  "dumpsys window | grep -E '^WINDOW MANAGER |^ *Display: mDisplayId=|mCurrentFocus=|mFocusedApp='";
const resumedQuestion = "dumpsys activity activities | grep -E '^Display #|ResumedActivity'";

/**
 * Reads which app of the main display has the focus. An activity always has the name of its own app, while an app may
 * choose any title for a window. The title of a window therefore counts as another app only when Android reports no
 * activity with the focus.
 */
export async function readCurrentApp(shell: PhoneShell, signal: AbortSignal): Promise<CurrentApp> {
  const windows = (await shell.run(focusQuestion, signal)).stdout;
  const title = /^[ \t]*mCurrentFocus=Window\{\S{1,40} \S{1,40} ([\w.$/]{1,500})\}/m.exec(
    onMainDisplay(windows),
  )?.[1];
  const activity = focusedActivity(windows);
  const isOfSystem = title !== undefined && !title.includes('/') && title !== activity?.packageName;
  if (isOfSystem && (activity !== undefined || !title.includes('.')))
    return { packageName: systemUi, activity: null };
  if (activity !== undefined)
    return title === activity.packageName ? { ...activity, activity: null } : activity;
  const isToldOfNone = activitiesIn(windows, 'mFocusedApp').length === 0;
  if (title !== undefined && isToldOfNone) return appOfTitle(title);
  return await readResumedApp(shell, signal);
}

/**
 * Returns the activity with the focus. Undefined when the phone reports none, or several: those of other displays, or
 * lines of a window title.
 */
function focusedActivity(windows: string): CurrentApp | undefined {
  const [first] = activitiesIn(onMainDisplay(windows), 'mFocusedApp');
  const all = activitiesIn(windows, 'mFocusedApp');
  return all.every((one) => isDeepStrictEqual(one, first)) ? first : undefined;
}

/** Reads the resumed activity on the main display. Its output contains no window titles. */
async function readResumedApp(shell: PhoneShell, signal: AbortSignal): Promise<CurrentApp> {
  const { stdout } = await shell.run(resumedQuestion, signal);
  const printed = onMainDisplay(stdout);
  const tops = activitiesIn(printed, 'topResumedActivity');
  const [started] = [...tops, ...activitiesIn(printed, 'm?ResumedActivity')];
  const isCertain = tops.every((one) => isDeepStrictEqual(one, started));
  if (started !== undefined && isCertain) return started;
  throw new DriverError(
    'screen_not_readable',
    started === undefined
      ? 'The phone does not say which app is in front; the screen may be off or locked.'
      : 'The phone names several apps that are in front.',
  );
}

/**
 * Returns the activity of an app that has the focus, also below a dialog or the notification shade; null for another
 * app.
 */
export function focusedActivityOf(packageName: string, windows: string): string | null {
  const [first, ...others] = activitiesIn(onMainDisplay(windows), 'mFocusedApp').filter(
    (one) => one.packageName === packageName,
  );
  if (others.some((one) => !isDeepStrictEqual(one, first))) return null;
  return first?.activity?.slice(0, 255) ?? null;
}

/**
 * Returns the lines of the display with the ID 0, which is the main one. Up to Android 9 the focus is printed once,
 * below the windows and without the heading of a display (AOSP, WindowManagerService.java, dumpWindowsNoHeaderLocked;
 * from Android 10 on DisplayContent.java, dump).
 */
function onMainDisplay(printed: string): string {
  let isMain = true;
  const kept = printed.split('\n').filter((line) => {
    const display = /^ {0,8}Display(?:: mDisplayId=| #)(\d{1,10})/.exec(line)?.[1];
    if (display !== undefined) isMain = display === '0';
    else if (line.startsWith('WINDOW MANAGER ')) isMain = true;
    return isMain;
  });
  return kept.join('\n');
}

/** Package of the notification shade, and of other system windows with a bare name. The app below has no focus. */
export const systemUi = 'com.android.systemui';

function appOfTitle(title: string): CurrentApp {
  const [packageName = '', activity = ''] = title.split('/', 2);
  return activity === '' ? { packageName, activity: null } : toCurrentApp(packageName, activity);
}

/** Finds the activity records in lines that begin with a name. Up to Android 9 a record is nested in others. */
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
