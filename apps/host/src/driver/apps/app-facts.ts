import type { RecordedApp } from '@phalanx/protocol';

import { askTogether } from '../shell/ask-together.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';
import { focusedActivityOf, focusQuestion } from './front-app.ts';

/** Package name of Android or of an app. A shell command gets no other characters. */
const packageForm = /^[A-Za-z][A-Za-z0-9_.]{0,254}$/;

/** Reads facts of an app. The activity is known only while the app is in front. Omits output of another form. */
export async function readAppFacts(
  shell: PhoneShell,
  packageName: string,
  signal: AbortSignal,
): Promise<RecordedApp> {
  const nothing = { package: packageName.slice(0, 255), activity: null, version: null, language: null };
  if (!packageForm.test(packageName)) return nothing;
  const [windows = '', locales = '', versions = ''] = await askTogether(
    shell,
    [
      focusQuestion,
      'getprop persist.sys.locale; getprop ro.product.locale',
      `dumpsys package ${packageName} | grep versionName=`,
    ],
    signal,
  );
  return {
    package: packageName,
    activity: focusedActivityOf(packageName, windows),
    version: versionIn(versions),
    language: languageIn(locales),
  };
}

/** Returns the first version: that of the update, for an updated system app. */
function versionIn(lines: string): string | null {
  // oxlint-disable-next-line no-control-regex -- the class excludes control characters
  const version = /^[ \t]*versionName=([^\u0000-\u001f\u007f]{1,100})[ \t\r]*$/m.exec(lines)?.[1]?.trim();
  return version === undefined || version === '' || version === 'null' ? null : version.toWellFormed();
}

/** Returns the first tag. The second one is the maker's default, which applies when no other language was chosen. */
function languageIn(lines: string): string | null {
  const tags = lines.split('\n').map((line) => line.trim());
  return tags.find((tag) => /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}$/.test(tag))?.slice(0, 35) ?? null;
}
