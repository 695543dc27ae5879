/**
 * The apps on the phone. What changes them needs a host whose operator has set `PHALANX_ALLOW_APP_CHANGES=true`; else it rejects with `not_allowed`.
 *
 * @example
 * const apps = await agent.apps.list();
 * if (!apps.some(({ packageName }) => packageName === 'dev.phalanx.sample.form')) throw new Error('not installed');
 * await agent.apps.clearData('dev.phalanx.sample.form');
 */
interface AgentApps {
  /** All that are installed. */
  list(options?: AppOptions): Promise<readonly InstalledApp[]>;
  /**
   * The users of the phone: its owner, whose number is 0, work profiles, and second persons. The calls that take a `user` reject with
   * `user_refused` for one that there is not, and where whoever manages a profile has forbidden debugging there.
   *
   * @example
   * const profile = (await agent.apps.users()).find(({ id, isRunning }) => id > 0 && isRunning);
   * if (profile !== undefined) await agent.actions.launchApp('com.android.settings', { user: profile.id }).catch(console.warn);
   */
  users(): Promise<readonly PhoneUser[]>;
  /**
   * Installs an APK, or a bundle of the APKs of one app (`.apks`, `.xapk`, `.apkm`), or updates what is installed; the data of
   * the app stays. It takes up to three minutes. The OBB files of a bundle go to `Android/obb` of the shared storage of its user; what of a bundle
   * did not get onto the phone is in `notInstalled`.
   * Rejects with `app_change_refused`, which has the phone's answer and what to do about it.
   *
   * @param apk The file itself, such as `await (await fetch(url)).bytes()`, of up to 50 MB; or the path of an APK in the
   *   phone's shared storage, of any size.
   */
  install(apk: Uint8Array | string, options?: InstallOptions): Promise<InstalledParts>;
  /** Rejects with `app_not_found`, and with `app_change_refused` for apps that belong to the phone. */
  uninstall(packageName: string, options?: AppOptions): Promise<void>;
  /** Stops the app and forgets its data and its permissions, as if it were just installed. */
  clearData(packageName: string, options?: AppOptions): Promise<void>;
  /** Grants a permission that Android would ask for, such as `android.permission.CAMERA`. */
  grantPermission(packageName: string, permission: string, options?: AppOptions): Promise<void>;
  /** Takes a permission back. Android stops the app. */
  revokePermission(packageName: string, permission: string, options?: AppOptions): Promise<void>;
}

interface InstallOptions extends AppOptions {
  /** Grants every permission that the app asks for. Default false; some makers refuse it. */
  grantPermissions?: boolean;
}

interface PhoneUser {
  /** 0 is the phone's owner. */
  id: number;
  name: string;
  /** Its apps can be started. */
  isRunning: boolean;
}

interface InstalledApp {
  /** Package name, such as `com.android.settings`. */
  packageName: string;
  /** It came with the phone. */
  isSystem: boolean;
}

interface InstalledParts {
  /** Names of APKs and other contents of a bundle that the phone did not get. Empty for an APK, and for a bundle that is there as a whole. Of more than 50, the last line says how many more. */
  notInstalled: string[];
}
