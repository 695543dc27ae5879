import { createReadStream } from 'node:fs';
import { SERVER_APK_PATH, TEST_APK_PATH, version } from 'appium-uiautomator2-server';
import { DriverError } from '../driver-error.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';
import { pushFile } from '../shell/kept-file.ts';

export const serverPackage = 'io.appium.uiautomator2.server';
export const testPackage = `${serverPackage}.test`;

interface HelperApk {
  readonly packageName: string;
  readonly path: string;
}

const apks: readonly HelperApk[] = [
  { packageName: serverPackage, path: SERVER_APK_PATH },
  { packageName: testPackage, path: TEST_APK_PATH },
];

/** Both packages of the UI helper, as a phone lists them that has them. */
export const helperPackages = apks.map(({ packageName }) => ({
  name: packageName,
  versionCode: 1,
  versionName: version,
}));

/** Installs both packages of the UI helper unless this very version is there. Returns whether it had to. Rejects with `ui_helper_refused` when the phone does not take them. */
export async function installHelper(shell: PhoneShell, signal: AbortSignal): Promise<boolean> {
  if (await isInstalled(shell, signal)) return false;
  for (const apk of apks) {
    const failure = await installApk(shell, apk, signal);
    if (failure === undefined) continue;
    // Another signature or a newer version stands in the way; both packages must come from one build.
    if (
      !/UPDATE_INCOMPATIBLE|VERSION_DOWNGRADE|ALREADY_EXISTS|SHARED_USER|INCONSISTENT_CERTIFICATES/.test(
        failure,
      )
    )
      throw refused(failure);
    await uninstallHelper(shell, signal);
    const again = await installApk(shell, apk, signal);
    if (again !== undefined) throw refused(again);
  }
  return true;
}

async function isInstalled(shell: PhoneShell, signal: AbortSignal): Promise<boolean> {
  const query = `dumpsys package ${serverPackage} | grep versionName=; pm list packages ${testPackage}`;
  const { stdout } = await shell.run(query, signal);
  const isThisVersion = /^\s*versionName=(\S+)/m.exec(stdout)?.[1] === version;
  return isThisVersion && stdout.split(/\r?\n/).includes(`package:${testPackage}`);
}

async function uninstallHelper(shell: PhoneShell, signal: AbortSignal): Promise<void> {
  for (const { packageName } of apks) await shell.run(`pm uninstall ${packageName}`, signal);
}

/** Returns pm's own word of failure, or undefined. */
async function installApk(
  shell: PhoneShell,
  apk: HelperApk,
  signal: AbortSignal,
): Promise<string | undefined> {
  const remotePath = `/data/local/tmp/phalanx-${apk.packageName}.apk`;
  try {
    await pushFile(shell, createReadStream(apk.path), { remotePath }, signal).catch((error: unknown) => {
      throw signal.aborted || shell.connection.gone.aborted
        ? error
        : refused(error instanceof Error ? error.message : String(error));
    });
    // Without -g, which Xiaomi and ColorOS refuse to the shell; the helper needs no permission of its own.
    const { stdout, stderr } = await shell.run(`pm install -r ${remotePath}`, signal);
    if (/^Success/m.test(stdout)) return undefined;
    return `${stdout}${stderr}`.trim().slice(0, 500) || 'pm install printed nothing';
  } finally {
    await shell.run(`rm -f ${remotePath}`, signal).catch(() => {});
  }
}

function refused(answer: string): DriverError {
  return new DriverError('ui_helper_refused', `The phone refused to install the UI helper: ${answer}.`);
}
