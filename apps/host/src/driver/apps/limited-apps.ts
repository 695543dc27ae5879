import { posix } from 'node:path';
import { type AppLimit, fitsApps, type UiNode, type WindowTree } from '@phalanx/protocol';

import type { Calls } from '../driver-calls.ts';
import { DriverError } from '../driver-error.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';
import { toldAnswer } from '../shell/told-answer.ts';
import { readCurrentApp } from './front-app.ts';

/** Finds the app that is the phone's home screen. Asks the phone once. */
export type FindHome = (signal: AbortSignal) => Promise<string | undefined>;

export function createHomeFinder(shell: PhoneShell): FindHome {
  let home: string | undefined;
  return async (signal) => {
    const intent = '-a android.intent.action.MAIN -c android.intent.category.HOME';
    if (home !== undefined) return home;
    const answer = await shell.run(`cmd package resolve-activity --brief ${intent}`, signal);
    // Matches a component, or Android's message for none.
    const sign = /^(?:[\w.]+\/[\w.$]+\s*$|No activity found)/m;
    home = packageIn(toldAnswer(answer, { sign, what: 'its home screen' }));
    return home;
  };
}

/**
 * Returns the package of the home screen. Undefined for the one of the settings, which a phone shows until its first
 * unlock.
 */
function packageIn(stdout: string): string | undefined {
  const found = /^([\w.]+)\/[\w.$]+\s*$/m.exec(stdout)?.[1];
  return found === 'android' || found === 'com.android.settings' ? undefined : found;
}

/**
 * Packages of the system that ask for permissions, for all makers: the first one since Android 10, the other one
 * before.
 */
const askingPackage = /(?:^|\.)(?:permissioncontroller|packageinstaller)$/;
const isAsking = (packageName: string): boolean => askingPackage.test(packageName);
const askingActivity = /\.GrantPermissionsActivity$/;
/** Package of Android's own dialogs, such as for an app that does not respond. */
const android = 'android';

/** Folder of an app in the shared storage, under all its names, or on a memory card. */
const folderOfApp =
  /^\/(?:sdcard|storage\/(?:emulated\/\d+|self\/primary|[0-9A-F]{4}-[0-9A-F]{4}))\/Android\/(?:data|media|obb)\/([\w.]+)(?:\/|$)/;

/** Apps that a limited caller may use. Each `require` method throws `app_not_allowed` for another app. */
export class LimitedApps {
  readonly #limit: AppLimit;
  readonly #shell: PhoneShell;
  readonly #findHome: FindHome;

  constructor(limit: AppLimit, shell: PhoneShell, findHome: FindHome) {
    this.#limit = limit;
    this.#shell = shell;
    this.#findHome = findHome;
  }

  has(packageName: string): boolean {
    return fitsApps(this.#limit.apps, packageName);
  }

  require(packageName: string): void {
    if (!this.has(packageName)) throw this.refusal(`${packageName} is another app`);
  }

  /** Requires that the app in front may be touched, and seen in pictures. */
  async requireFront(signal: AbortSignal): Promise<void> {
    const { packageName, activity } = await readCurrentApp(this.#shell, signal);
    const asks = isAsking(packageName) && askingActivity.test(activity ?? '');
    if (!asks && !this.has(packageName)) throw this.#inFront(packageName);
  }

  async isInFront(signal: AbortSignal): Promise<boolean> {
    try {
      await this.requireFront(signal);
      return true;
    } catch (error) {
      if (error instanceof DriverError) return false;
      throw error;
    }
  }

  /** Requires that the screen of a tree may be seen; without a tree, that the app in front may. */
  async requireShown(root: UiNode | undefined, signal: AbortSignal): Promise<void> {
    if (root === undefined || isAsking(root.packageName)) return await this.requireFront(signal);
    if (!this.isReadable(root.packageName)) throw this.#inFront(root.packageName);
  }

  /**
   * Requires that an app's tree may be read. The home screen may be read as well: waits continue while apps come and
   * go.
   */
  async requireReadable(packageName: string, signal: AbortSignal): Promise<void> {
    // The same app lists the permissions of all others.
    if (isAsking(packageName)) return await this.requireFront(signal);
    if (this.isReadable(packageName) || packageName === (await this.#findHome(signal))) return;
    throw this.#inFront(packageName);
  }

  /** Returns the windows that may be read, without those of other apps. */
  async readableOf(windows: readonly WindowTree[], signal: AbortSignal): Promise<WindowTree[]> {
    const known = windows.filter(({ root, isKeyboard }) => isKeyboard || this.isReadable(root.packageName));
    const isOnlyAsked =
      !known.some(({ root }) => isAsking(root.packageName)) || (await this.isInFront(signal));
    return isOnlyAsked ? known : known.filter(({ root }) => !isAsking(root.packageName));
  }

  /** Whether windows of an app may be read. Callers also check that the app that asks for permissions is asking. */
  isReadable(packageName: string): boolean {
    return packageName === android || isAsking(packageName) || this.has(packageName);
  }

  /** Requires that an app may receive the touch. */
  requireTouched(packageName: string): void {
    const name = packageName === '' ? 'a window that Android does not name' : `a window of ${packageName}`;
    if (!this.isReadable(packageName)) throw this.refusal(`${name} would get the touch`);
  }

  /** Requires a path in the folders that Android keeps for the allowed apps in the shared storage. */
  requireOwnFile(path: string): void {
    const folder = folderOfApp.exec(posix.normalize(path))?.[1];
    if (folder === undefined || !this.has(folder))
      throw this.refusal(`${path} is in no folder of them, such as /sdcard/Android/media/PACKAGE`);
  }

  refusal(why: string): DriverError {
    const { token, apps } = this.#limit;
    return new DriverError(
      'app_not_allowed',
      `The token "${token}" is limited to ${apps.join(', ')}: ${why}.`,
    );
  }

  #inFront(packageName: string): DriverError {
    return this.refusal(`${packageName} is in front. Launch one of its apps, or go back`);
  }
}

type Call<Params, Result> = (params: Params, signal: AbortSignal) => Promise<Result>;

const keyHome = 3;
const keyBack = 4;

/** Limits the calls of a phone to the apps that the caller may use. Add each new call of the phone here. */
export function limitCalls(calls: Calls, apps: LimitedApps): Calls {
  /** Checks the app in front when it is the call's turn, because the result of an earlier check may be stale. */
  const touching =
    <Params, Result>(call: Call<Params, Result>): Call<Params, Result> =>
    async (params, signal) => {
      await apps.requireFront(signal);
      return await call(params, signal);
    };
  const ofApp =
    <Params extends { packageName: string }, Result>(call: Call<Params, Result>): Call<Params, Result> =>
    async (params, signal) => {
      apps.require(params.packageName);
      return await call(params, signal);
    };
  const ofFile =
    <Params extends { path: string }, Result>(call: Call<Params, Result>): Call<Params, Result> =>
    async (params, signal) => {
      apps.requireOwnFile(params.path);
      return await call(params, signal);
    };
  const closed = (why: string) => async (): Promise<never> => {
    throw apps.refusal(why);
  };
  return {
    'screen.content': async (params, signal) => {
      const tree = await calls['screen.content'](params, signal);
      await apps.requireReadable(tree.packageName, signal);
      // Omits notifications and toasts, because their apps are unknown.
      const { announced: _, ...own } = tree;
      return own;
    },
    'screen.change': calls['screen.change'],
    'screen.windows': async (params, signal) => {
      return await apps.readableOf(await calls['screen.windows'](params, signal), signal);
    },
    'screen.screenshot': async (params, signal) => {
      await apps.requireFront(signal);
      const picture = await calls['screen.screenshot'](params, signal);
      await apps.requireFront(signal);
      return picture;
    },
    'screen.rotate': calls['screen.rotate'],
    'screen.animations': calls['screen.animations'],
    'notification.list': async (params, signal) =>
      (await calls['notification.list'](params, signal)).filter(({ packageName }) => apps.has(packageName)),
    'screen.reach': async (params, signal) => {
      await apps.requireReadable(params.on.packageName, signal);
      return await calls['screen.reach'](params, signal);
    },
    'input.tap': touching(calls['input.tap']),
    'input.doubleTap': touching(calls['input.doubleTap']),
    'input.longPress': touching(calls['input.longPress']),
    'input.swipe': touching(calls['input.swipe']),
    'input.drag': touching(calls['input.drag']),
    'input.fingers': touching(calls['input.fingers']),
    'input.hideKeyboard': calls['input.hideKeyboard'],
    'input.text': touching(calls['input.text']),
    'input.clearText': touching(calls['input.clearText']),
    'input.key': async (params, signal) => {
      if (params.keyCode !== keyHome && params.keyCode !== keyBack) await apps.requireFront(signal);
      await calls['input.key'](params, signal);
    },
    'alert.press': touching(calls['alert.press']),
    'clipboard.read': touching(calls['clipboard.read']),
    'clipboard.write': touching(calls['clipboard.write']),
    'navigate.back': calls['navigate.back'],
    'navigate.home': calls['navigate.home'],
    'navigate.recents': closed('the overview shows all apps'),
    'navigate.notifications': closed('the notification shade is of all apps'),
    'app.launch': ofApp(calls['app.launch']),
    'app.stop': ofApp(calls['app.stop']),
    'app.current': calls['app.current'],
    'app.list': calls['app.list'],
    'app.openLink': async (params, signal) => {
      const { packageName } = params;
      if (packageName === undefined) throw apps.refusal('name the app that is to open the link');
      apps.require(packageName);
      await calls['app.openLink'](params, signal);
    },
    'app.install': closed('a file may install any app'),
    'app.uninstall': ofApp(calls['app.uninstall']),
    'app.clearData': ofApp(calls['app.clearData']),
    'app.setPermission': ofApp(calls['app.setPermission']),
    'file.list': ofFile(calls['file.list']),
    'file.read': ofFile(calls['file.read']),
    'file.write': ofFile(calls['file.write']),
    'file.scan': ofFile(calls['file.scan']),
    'file.delete': ofFile(calls['file.delete']),
    'message.list': closed('text messages are of the whole phone'),
    'phone.settings': closed('settings are of the whole phone'),
    'user.list': calls['user.list'],
    'phone.shell': closed('the shell reaches every app'),
    'device.info': calls['device.info'],
  };
}
