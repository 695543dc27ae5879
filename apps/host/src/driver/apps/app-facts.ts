import type { RecordedApp } from '@phalanx/protocol';

import type { PhoneShell } from '../shell/phone-shell.ts';

/** What is filtered on the phone is a few lines. */
const maxBytes = 64 * 1024;
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
  const { stdout } = await shell.run(commandOf(packageName), signal, maxBytes);
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
  const version = /^\s*versionName=([^\u0000-\u001f\u007f]{1,100})\s*$/m.exec(lines)?.[1]?.trim();
  return version === undefined || version === '' || version === 'null' ? null : version.toWellFormed();
}

/** The second one is of the maker: it counts where nobody has chosen another. */
function languageIn(lines: string): string | null {
  const tags = lines.split('\n').map((line) => line.trim());
  return tags.find((tag) => /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}$/.test(tag))?.slice(0, 35) ?? null;
}
