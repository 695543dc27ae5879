import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { pause, withTimeLimit } from '../../time/time-limit.ts';
import { DriverError } from '../driver-error.ts';
import type { PhoneShell, RunningCommand } from '../shell/phone-shell.ts';
import { createHelperHttp, type HelperHttp } from './helper-http.ts';
import { installHelper, serverPackage, testPackage } from './install-helper.ts';

export interface RunningHelper {
  readonly http: HelperHttp;
  /** Resolves with what the instrumentation printed last, when it ends. */
  readonly ended: Promise<string>;
  stop(): void;
}

export interface HelperLaunch {
  readonly signal: AbortSignal;
  /** Told when the helper was launched, before it answers. */
  readonly onLaunched: () => void;
}

const pollMs = 150;
const statusTimeoutMs = 2000;
const readyTimeoutMs = 30_000;
const statusCheck = Compile(Type.Object({ ready: Type.Optional(Type.Boolean()) }));

/** Installs (when needed) and starts the UI helper, and waits until it answers. The installation is limited by the signal alone. */
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

/** The server listens on every address of the phone, without asking who comes: it must not outlive the link. */
function boundToLink(command: string): string {
  const stop = [serverPackage, testPackage].map((name) => `am force-stop ${name}`).join('; ');
  return `trap '${stop}' EXIT; trap exit HUP; ${command} & wait`;
}

/** A helper that was left behind holds the port and the phone's only UiAutomation; the end of our `am` does not end it on every Android. */
export async function stopHelper(shell: PhoneShell, signal: AbortSignal): Promise<void> {
  await shell.run(`am force-stop ${serverPackage}; am force-stop ${testPackage}`, signal);
}

/**
 * DISABLE_SUPPRESS_ACCESSIBILITY_SERVICES keeps the user's accessibility services running, which Android otherwise
 * suspends for as long as a UiAutomation is connected. From API 28 on the helper's reflection needs the hidden API
 * check off; this flag does it for the one process, where Appium changes a setting of the whole phone.
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

/** What people need of an instrumentation's output. */
export function lastLines(output: string): string {
  const lines = output.split(/\r?\n/).map((line) => line.trim());
  const telling = lines.filter((line) => /Error|FAILED|crash|Exception|Unable|shortMsg|longMsg/i.test(line));
  const chosen = telling.length > 0 ? telling.slice(0, 3) : lines.filter((line) => line !== '').slice(-2);
  return chosen.join(' ').slice(0, 300).replace(/\.+$/, '') || 'it printed nothing';
}
