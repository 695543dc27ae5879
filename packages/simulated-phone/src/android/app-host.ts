import type { App, AppHost } from '../apps/app.ts';
import type { Activity } from './activity-stack.ts';
import type { Android } from './android.ts';

/** What one app may do to the phone. An app acts on its own activity, also while another app covers it. */
export function createAppHost(android: Android, app: App): AppHost {
  const findActivity = (): Activity | undefined => android.stack.find(app.packageName)?.activities.at(-1);
  return {
    phone: android.identity,
    open: (activity) => void android.startActivity(app.packageName, activity),
    finish: () => android.finishTop(),
    showDialog: (dialog) => {
      const activity = findActivity();
      if (activity) activity.dialog = dialog;
      android.hideKeyboard();
    },
    fieldText: (name) => findActivity()?.fields.get(name)?.text ?? '',
    setFieldText: (name, text) => {
      findActivity()?.fields.get(name)?.setText(text);
      android.redraw();
    },
    after: (delayMs, action) => android.timers.start(app.packageName, delayMs, action),
    crash: () => android.crash(app.packageName),
    startApp: (packageName) => void android.startActivity(packageName),
    listLaunchable: () => android.listApps().filter((other) => !other.isHome),
  };
}
