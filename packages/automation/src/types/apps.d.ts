/**
 * The apps on the phone. Calls that change them need a host whose operator has set
 * `PHALANX_ALLOW_APP_CHANGES=true`; otherwise they reject with `not_allowed`.
 *
 * @example
 * const apps = await agent.apps.list();
 * if (!apps.some(({ packageName }) => packageName === 'dev.phalanx.sample.form')) throw new Error('not installed');
 * await agent.apps.clearData('dev.phalanx.sample.form');
 */
interface AgentApps {
  /** Lists all installed apps. */
  list(options?: AppOptions): Promise<readonly InstalledApp[]>;
  /**
   * Lists the users of the phone: its owner, whose ID is 0, work profiles, and further persons. Calls with a
   * `user` reject with `user_refused` when there is no such user, and when the administrator of a profile has
   * forbidden debugging there.
   *
   * @example
   * const profile = (await agent.apps.users()).find(({ id, isRunning }) => id > 0 && isRunning);
   * if (profile !== undefined) await agent.actions.launchApp('com.android.settings', { user: profile.id }).catch(console.warn);
   */
  users(): Promise<readonly PhoneUser[]>;
  /**
   * Installs or updates an app from an APK, or from a bundle of the APKs of one app (`.apks`, `.xapk`,
   * `.apkm`); the data of the app stays. Takes up to three minutes. The OBB files of a bundle go to
   * `Android/obb` of the shared storage of its user; `notInstalled` names the parts of a bundle that did not
   * get onto the phone. Rejects with `app_change_refused`, whose message has the phone's answer and what to do
   * about it.
   *
   * @param apk The file itself, such as `await (await fetch(url)).bytes()`, of up to 50 MB; or the path of an APK in the
   *   phone's shared storage, of any size.
   */
  install(apk: Uint8Array | string, options?: InstallOptions): Promise<InstalledParts>;
  /** Uninstalls an app. Rejects with `app_not_found`, and with `app_change_refused` for apps that belong to the phone. */
  uninstall(packageName: string, options?: AppOptions): Promise<void>;
  /** Stops the app and deletes its data and its permissions, as if it had just been installed. */
  clearData(packageName: string, options?: AppOptions): Promise<void>;
  /** Grants a permission that Android would ask for, such as `android.permission.CAMERA`. */
  grantPermission(packageName: string, permission: string, options?: AppOptions): Promise<void>;
  /** Revokes a permission. Android stops the app. */
  revokePermission(packageName: string, permission: string, options?: AppOptions): Promise<void>;
}

interface InstallOptions extends AppOptions {
  /** Grants every permission that the app asks for. Default false; some makers refuse it. */
  grantPermissions?: boolean;
}

interface PhoneUser {
  /** ID of the user; 0 is the phone's owner. */
  id: number;
  name: string;
  /** Whether the user's apps can be started. */
  isRunning: boolean;
}

interface InstalledApp {
  /** Package name, such as `com.android.settings`. */
  packageName: string;
  /** Whether the app came with the phone. */
  isSystem: boolean;
}

interface InstalledParts {
  /**
   * Names of APKs and other contents of a bundle that the phone did not get; empty for an APK, and for a bundle
   * that was installed as a whole. At most 50 entries: beyond, the last one counts those that are not named.
   */
  notInstalled: string[];
}
