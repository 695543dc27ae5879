import type { RecordedApp } from '@phalanx/protocol';

import { askTogether } from '../shell/ask-together.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';
import { focusedActivityOf, focusQuestion } from './front-app.ts';

/** A name of Android's own or of an app; what goes into a shell command has no other signs. */
const packageForm = /^[A-Za-z][A-Za-z0-9_.]{0,254}$/;

/** Reads facts of an app; the activity only while the app is in front. Output of another form is left out. */
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

/** The first one is of the update, where an app of the system was updated. */
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
