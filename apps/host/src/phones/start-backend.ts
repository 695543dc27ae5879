import { DriverError } from '../driver/driver-error.ts';
import { createFallbackBackend } from '../driver/fallback/fallback-backend.ts';
import type { PhoneShell } from '../driver/phone-shell.ts';
import type { UiBackend } from '../driver/ui-backend.ts';
import { stopHelper } from '../driver/uiautomator2/start-helper.ts';
import { createUiautomator2Backend, type HelpedPhone } from '../driver/uiautomator2/uiautomator2-backend.ts';
import { createBackoff } from '../time/backoff.ts';
import { pause, withTimeLimit } from '../time/time-limit.ts';

export interface BackendStart {
  readonly shell: PhoneShell;
  readonly phone: HelpedPhone;
  /** False when the helper has died too often. */
  readonly isHelperUsable: boolean;
  readonly signal: AbortSignal;
  /** Told of each attempt of the helper that failed. */
  readonly onFailure: (reason: string) => void;
}

export interface StartedBackend {
  readonly backend: UiBackend;
  /** Why it is the slower way. Undefined for the UiAutomator2 server. */
  readonly drawback: string | undefined;
}

const maxAttempts = 3;
// Pushing and installing 18 MB over slow Wi-Fi takes most of it.
const startTimeoutMs = 120_000;
/** The UiAutomator2 server's lowest Android, 8.0. */
export const lowestSdk = 26;

/** The UiAutomator2 server after at most three attempts, else Android's own commands. Rejects when the phone goes. */
export async function startBackend(start: BackendStart): Promise<StartedBackend> {
  const obstacle = obstacleOf(start);
  const outcome = obstacle === undefined ? await tryHelper(start) : { failure: obstacle };
  if ('backend' in outcome) return { backend: outcome.backend, drawback: undefined };
  const backend = createFallbackBackend(start.shell);
  const onTimeout = (): Error => new DriverError('call_timed_out', "The phone's shell does not answer.");
  await withTimeLimit({ timeoutMs: 5000, signals: [start.signal], onTimeout }, async (signal) => {
    await stopHelper(start.shell, signal);
    await backend.probe(signal);
  });
  return { backend, drawback: outcome.failure };
}

function obstacleOf({ phone: { sdkVersion }, isHelperUsable }: BackendStart): string | undefined {
  if (sdkVersion < lowestSdk) return 'the UI helper needs Android 8.0 or newer.';
  return isHelperUsable
    ? undefined
    : 'the UI helper stopped too often. Plug the phone in again to give it another chance.';
}

/** Rejects when it does not run within the limit, or can't. */
export async function startHelperOnce({ shell, phone, signal }: BackendStart): Promise<UiBackend> {
  const onTimeout = (): Error =>
    new DriverError('ui_helper_failed', `The UI helper did not start in ${startTimeoutMs / 1000} s.`);
  return await withTimeLimit({ timeoutMs: startTimeoutMs, signals: [signal], onTimeout }, (limited) =>
    createUiautomator2Backend(shell, phone, limited),
  );
}

async function tryHelper(start: BackendStart): Promise<{ backend: UiBackend } | { failure: string }> {
  const { shell, signal, onFailure } = start;
  const backoff = createBackoff({ firstMs: 500, lastMs: 5000 });
  let failure = '';
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    try {
      return { backend: await startHelperOnce(start) };
    } catch (error) {
      if (signal.aborted || shell.connection.gone.aborted) throw error;
      failure = error instanceof Error ? error.message : String(error);
      onFailure(`Starting the UI helper, attempt ${attempt} of ${maxAttempts} failed: ${failure}`);
      // Pushing 18 MB again would end the same way.
      if (error instanceof DriverError && error.code === 'ui_helper_refused') break;
    }
    await pause(backoff.nextMs(), signal);
  }
  return { failure };
}
