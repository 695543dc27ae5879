import type { ApkManifest } from '../android/packages/apk.ts';
import { icons } from '../widgets/icons.ts';
import { page } from '../widgets/page.ts';
import { type App, defineApp } from '../view/app.ts';

/** What an installed APK is to a phone that can't run its code: an app whose screens are empty. */
export function installedApp({ packageName, versionCode, versionName, launchers }: ApkManifest): App {
  const empty = () => page({ title: packageName, rows: [] });
  return defineApp({
    packageName,
    label: packageName.split('.').at(-1) ?? packageName,
    icon: icons.chevron,
    color: '#5f6368',
    versionCode,
    versionName,
    state: () => undefined,
    activities: Object.fromEntries(launchers.map((name) => [name, empty])),
  });
}
