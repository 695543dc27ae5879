import { createReadStream } from 'node:fs';
import { errorText } from '@phalanx/settings';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { SERVER_APK_PATH, TEST_APK_PATH, version } from 'appium-uiautomator2-server';
import { pause, withTimeLimit } from '../../time/time-limit.ts';
import { DriverError } from '../driver-error.ts';
import type { PhoneShell, RunningCommand } from '../shell/phone-shell.ts';
import { createHelperHttp, type HelperHttp } from './helper-http.ts';
import { pushFile } from '../shell/phone-files.ts';

export interface RunningHelper {
  readonly http: HelperHttp;
  /** Resolves with the last output of the instrumentation, when it ends. */
  readonly ended: Promise<string>;
  stop(): void;
}

export interface HelperLaunch {
  readonly signal: AbortSignal;
  /** Called when the helper is launched, before it answers. */
  readonly onLaunched: () => void;
}

const pollMs = 150;
const statusTimeoutMs = 2000;
const readyTimeoutMs = 30_000;
const statusCheck = Compile(Type.Object({ ready: Type.Optional(Type.Boolean()) }));

/**
 * Installs (when needed) and starts the UI helper, and waits until it answers. Only the signal limits the installation.
 */
export async function startHelper(
  shell: PhoneShell,
  sdkVersion: number,
  { signal, onLaunched }: HelperLaunch,
): Promise<RunningHelper> {
  await installHelper(shell, signal);
  await stopHelper(shell, signal);
  const instrumentation = await shell.start(boundToLink(instrumentCommand(sdkVersion)), signal);
  onLaunched();
  const http = createHelperHttp(shell);
  const stop = (): void => {
    http.close();
    instrumentation.kill();
  };
  const onTimeout = (): Error =>
    new DriverError(
      'ui_helper_failed',
      `The UI helper was started but did not answer in ${readyTimeoutMs / 1000} s.`,
    );
  try {
    const limit = { timeoutMs: readyTimeoutMs, signals: [signal], onTimeout };
    await withTimeLimit(limit, (limited) => waitUntilReady(http, instrumentation, limited));
    return { http, ended: instrumentation.ended, stop };
  } catch (error) {
    stop();
    throw error;
  }
}

/**
 * Returns a command that ends with the link. The server listens on every address of the phone without authentication,
 * so it must not outlive the link.
 */
function boundToLink(command: string): string {
  const stop = [serverPackage, testPackage].map((name) => `am force-stop ${name}`).join('; ');
  return `trap '${stop}' EXIT; trap exit HUP; ${command} & wait`;
}

/**
 * Stops an orphaned helper, which holds the port and the phone's only UiAutomation. The end of the host's `am` does not
 * end it on every Android.
 */
export async function stopHelper(shell: PhoneShell, signal: AbortSignal): Promise<void> {
  await shell.run(`am force-stop ${serverPackage}; am force-stop ${testPackage}`, signal);
}

/**
 * Returns the command that starts the helper. DISABLE_SUPPRESS_ACCESSIBILITY_SERVICES keeps the user's accessibility
 * services running, which Android otherwise suspends for as long as a UiAutomation is connected. From API 28 on the
 * helper's reflection needs the hidden API check off; this flag does it for the one process, while Appium changes a
 * setting of the whole phone.
 */
function instrumentCommand(sdkVersion: number): string {
  const hiddenApis = sdkVersion >= 28 ? '--no-hidden-api-checks ' : '';
  const extras = '-e disableAnalytics true -e DISABLE_SUPPRESS_ACCESSIBILITY_SERVICES true';
  return `am instrument -w ${hiddenApis}${extras} ${testPackage}/androidx.test.runner.AndroidJUnitRunner`;
}

async function waitUntilReady(
  http: HelperHttp,
  instrumentation: RunningCommand,
  signal: AbortSignal,
): Promise<void> {
  let output: string | undefined;
  void instrumentation.ended.then((tail) => (output = tail));
  while (!(await isReady(http, AbortSignal.any([signal, AbortSignal.timeout(statusTimeoutMs)])))) {
    signal.throwIfAborted();
    if (output !== undefined)
      throw new DriverError(
        'ui_helper_failed',
        `The UI helper stopped while starting: ${lastLines(output)}.`,
      );
    await pause(pollMs, signal);
  }
}

export async function isReady(http: HelperHttp, signal: AbortSignal): Promise<boolean> {
  try {
    const { value } = await http.request({ method: 'GET', path: '/status', signal });
    return statusCheck.Check(value) && value.ready !== false;
  } catch {
    return false;
  }
}

/** Extracts the lines of an instrumentation's output that people need. */
export function lastLines(output: string): string {
  const lines = output
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => !saysWell.test(line));
  const telling = lines.filter((line) => /Error|FAILED|crash|Exception|Unable|shortMsg|longMsg/i.test(line));
  const chosen = telling.length > 0 ? telling.slice(0, 3) : lines.filter((line) => line !== '').slice(-2);
  return chosen.join(' ').slice(0, 300).replace(/\.+$/, '') || 'it printed no cause';
}

/** Lines of a successful test run: -1 is RESULT_OK of android.app.Activity. */
const saysWell = /^(?:OK \(|Time: |INSTRUMENTATION_(?:STATUS_)?CODE: (?:-1|[01])$)/;

const serverPackage = 'io.appium.uiautomator2.server';
const testPackage = `${serverPackage}.test`;

interface HelperApk {
  readonly packageName: string;
  readonly path: string;
}

const apks: readonly HelperApk[] = [
  { packageName: serverPackage, path: SERVER_APK_PATH },
  { packageName: testPackage, path: TEST_APK_PATH },
];

/** Packages of the UI helper, in the form in which a phone lists them. */
export const helperPackages = apks.map(({ packageName }) => ({
  name: packageName,
  versionCode: 1,
  versionName: version,
}));

/**
 * Installs both packages of the UI helper unless this exact version is there. Returns whether it installed them.
 * Rejects with `ui_helper_refused` when the phone does not accept them.
 */
async function installHelper(shell: PhoneShell, signal: AbortSignal): Promise<boolean> {
  if (await isInstalled(shell, signal)) return false;
  for (const apk of apks) {
    const failure = await installApk(shell, apk, signal);
    if (failure === undefined) continue;
    // Another signature or a newer version blocks the installation; both packages must come from one build.
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
  const isThisVersion = /^[ \t]*versionName=(\S+)/m.exec(stdout)?.[1] === version;
  return isThisVersion && stdout.split(/\r?\n/).includes(`package:${testPackage}`);
}

async function uninstallHelper(shell: PhoneShell, signal: AbortSignal): Promise<void> {
  for (const { packageName } of apks) await shell.run(`pm uninstall ${packageName}`, signal);
}

/** Returns pm's own failure message, or undefined. */
async function installApk(
  shell: PhoneShell,
  apk: HelperApk,
  signal: AbortSignal,
): Promise<string | undefined> {
  const remotePath = `/data/local/tmp/phalanx-${apk.packageName}.apk`;
  try {
    await pushFile(shell, createReadStream(apk.path), { remotePath }, signal).catch((error: unknown) => {
      throw signal.aborted || shell.connection.gone.aborted ? error : refused(errorText(error));
    });
    // Omits -g, which Xiaomi and ColorOS refuse to the shell; the helper needs no permission of its own.
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
