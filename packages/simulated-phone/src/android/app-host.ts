import type { App, AppHost } from '../view/app.ts';
import type { Activity } from './activity-stack.ts';
import type { FileSystem } from './file-system.ts';
import type { Identity } from './identity.ts';
import type { SystemHost } from './system-host.ts';

/** System behind the apps. */
interface AppSystem extends SystemHost {
  readonly identity: Identity;
  readonly files: Pick<FileSystem, 'storage'>;
  preferencesOf(packageName: string): Map<string, boolean>;
  /** Timers of apps, by package name. */
  readonly timers: Timers;
  listApps(): readonly App[];
  /** Ends an app like an uncaught exception. */
  crash(packageName: string): void;
}

/**
 * Creates the calls that an app can make to the phone. They act on the app's own activity, even while another app
 * covers it.
 */
export function createAppHost(android: AppSystem, app: App, user: number): AppHost {
  const findActivity = (): Activity | undefined =>
    android.stack.find(app.packageName, user)?.activities.at(-1);
  return {
    phone: android.identity,
    storage: () => android.files.storage,
    preferences: android.preferencesOf(app.packageName),
    open: (activity) => void android.startActivity(app.packageName, activity, user),
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
    showToast: (text) => android.notices.showToast(text),
    after: (delayMs, action) => android.timers.start(app.packageName, delayMs, action),
    crash: () => android.crash(app.packageName),
    startApp: (packageName) => void android.startActivity(packageName),
    listLaunchable: () => android.listApps().filter((other) => !other.isHome),
  };
}

/** Timers grouped by owner and ended together, so that nothing runs after a phone was stopped. */
export class Timers {
  readonly #timers = new Map<NodeJS.Timeout, string>();

  start(owner: string, delayMs: number, action: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      action();
    }, delayMs);
    // A phone by itself must not keep the process alive.
    timer.unref();
    this.#timers.set(timer, owner);
  }

  /** Ends the timers of an owner, or all timers by default. */
  clear(owner?: string): void {
    for (const [timer, timerOwner] of [...this.#timers]) {
      if (owner !== undefined && owner !== timerOwner) continue;
      clearTimeout(timer);
      this.#timers.delete(timer);
    }
  }
}
