/** The apps on the phone. What changes them needs a host whose operator has set `PHALANX_ALLOW_APP_CHANGES=true`; else it rejects with `not_allowed`. */
interface AgentApps {
  /** All that are installed. */
  list(): Promise<readonly InstalledApp[]>;
  /**
   * Installs an APK, or updates what is installed; the data of the app stays. It takes up to three minutes.
   * Rejects with `app_change_refused`, which has the phone's answer and what to do about it.
   *
   * @param apk The file itself, such as `await (await fetch(url)).bytes()`, of up to 50 MB; or the path of an APK in the
   *   phone's shared storage, of any size.
   */
  install(apk: Uint8Array | string, options?: InstallOptions): Promise<void>;
  /** Rejects with `app_not_found`, and with `app_change_refused` for apps that belong to the phone. */
  uninstall(packageName: string): Promise<void>;
  /** Stops the app and forgets its data and its permissions, as if it were just installed. */
  clearData(packageName: string): Promise<void>;
  /** Grants a permission that Android would ask for, such as `android.permission.CAMERA`. */
  grantPermission(packageName: string, permission: string): Promise<void>;
  /** Takes a permission back. Android stops the app. */
  revokePermission(packageName: string, permission: string): Promise<void>;
}

interface InstallOptions {
  /** Grants every permission that the app asks for. Default false; some makers refuse it. */
  grantPermissions?: boolean;
}

interface InstalledApp {
  /** Such as `com.android.settings`. */
  packageName: string;
  /** It came with the phone. */
  isSystem: boolean;
}

/**
 * Files in the phone's shared storage, `/sdcard`. Other places that the phone's shell may use need a host whose operator has
 * set `PHALANX_ALLOW_SHELL=true`; else they reject with `not_allowed`. Paths are absolute.
 */
interface AgentFiles {
  /** What a folder holds, by name. Rejects with `file_not_found`. */
  list(folder: string): Promise<readonly PhoneFile[]>;
  /** A file of up to 50 MB; `new TextDecoder().decode(bytes)` makes text of it. Rejects with `file_not_found`, and with a `RangeError` for more. */
  read(path: string): Promise<Uint8Array>;
  /**
   * Writes a file of up to 50 MB, text as UTF-8, and makes the folders that are missing. Rejects with `file_refused`, and
   * with a `RangeError` for more. A write that fails may leave a part.
   */
  write(path: string, content: string | Uint8Array): Promise<void>;
  /** Deletes a file. Rejects with `file_not_found`, and with `file_refused` for a folder. */
  delete(path: string): Promise<void>;
}

interface PhoneFile {
  name: string;
  isFolder: boolean;
  sizeBytes: number;
  /** Epoch milliseconds, on the phone's clock. */
  modifiedAt: number;
}

interface ShellOptions {
  /** The command is ended after it, and the call rejects with `call_timed_out`. Default 30,000; at most 300,000. */
  timeoutMs?: number;
}

interface ShellResult {
  stdout: string;
  stderr: string;
  /** Null on old phones, which don't tell it. Many of Android's programs say 0 after an error too. */
  exitCode: number | null;
}
