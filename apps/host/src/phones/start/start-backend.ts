import { errorText } from '@phalanx/settings';
import { switchAdvice } from '../../driver/apps/maker-switches.ts';
import { DriverError } from '../../driver/driver-error.ts';
import { createFallbackBackend } from '../../driver/fallback/fallback-backend.ts';
import type { PhoneShell } from '../../driver/shell/phone-shell.ts';
import type { Renewals } from '../../driver/renewals.ts';
import type { UiBackend } from '../../driver/ui-backend.ts';
import { stopHelper } from '../../driver/uiautomator2/start-helper.ts';
import { createResidentBackend } from '../../driver/resident/resident-backend.ts';
import {
  createUiautomator2Backend,
  type HelpedPhone,
} from '../../driver/uiautomator2/uiautomator2-backend.ts';
import type { HelperChoice } from '../../config.ts';
import { createBackoff } from '../../time/backoff.ts';
import { pause, withTimeLimit, follow } from '../../time/time-limit.ts';
import type { StartQueue } from './start-queue.ts';

export interface BackendStart {
  readonly shell: PhoneShell;
  readonly phone: HelpedPhone & { readonly brand: string };
  /** Whether the helper may be used. False when it has died too often. */
  readonly isHelperUsable: boolean;
  readonly choice: HelperChoice;
  readonly renewals: Renewals;
  readonly signal: AbortSignal;
  /** Called when the helper was launched. From then on the host only waits for the phone. */
  readonly onLaunched: () => void;
  /** Called after each failed attempt to start the helper. */
  readonly onFailure: (reason: string) => void;
}

type HelperStart = Pick<BackendStart, 'shell' | 'phone' | 'signal' | 'renewals' | 'onLaunched'>;

export interface StartedBackend {
  readonly backend: UiBackend;
  /** Reason why the backend is not the first choice; undefined when it is. */
  readonly drawback: string | undefined;
}

const maxAttempts = 3;
// Timeout of a start: pushing and installing 18 MB over slow Wi-Fi takes most of it.
const startTimeoutMs = 120_000;
const residentTimeoutMs = 30_000;
/** Minimum Android release of both helpers, 8.0. */
export const lowestSdk = 26;

type Helper = 'uiautomator2' | 'resident';
type Outcome = { readonly backend: UiBackend } | { readonly failure: string };

const orders: Readonly<Record<HelperChoice, readonly Helper[]>> = {
  auto: ['uiautomator2', 'resident'],
  resident: ['resident', 'uiautomator2'],
  uiautomator2: ['uiautomator2'],
};

/** Starts the first available helper, else a backend on Android's own commands. Rejects when the phone goes away. */
export async function startBackend(start: BackendStart): Promise<StartedBackend> {
  const failures: string[] = [];
  const obstacle = obstacleOf(start);
  if (obstacle !== undefined) failures.push(obstacle);
  else
    for (const helper of orders[start.choice]) {
      const outcome = await tryHelper(start, helper);
      if ('backend' in outcome)
        return { backend: outcome.backend, drawback: failures.length > 0 ? failures.join(' ') : undefined };
      failures.push(outcome.failure);
      if (helper === 'uiautomator2') await freeUiAutomation(start);
    }
  const backend = createFallbackBackend(start.shell);
  await inTime(start, async (signal) => {
    await stopHelper(start.shell, signal);
    await backend.probe(signal);
  });
  return { backend, drawback: failures.join(' ') };
}

/** Stops a half-started server, which would otherwise occupy the phone's only UiAutomation. */
const freeUiAutomation = (start: BackendStart): Promise<void> =>
  inTime(start, (signal) => stopHelper(start.shell, signal));

function inTime({ signal }: BackendStart, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const onTimeout = (): Error => new DriverError('call_timed_out', "The phone's shell does not answer.");
  return withTimeLimit({ timeoutMs: 5000, signals: [signal], onTimeout }, work);
}

function obstacleOf({ phone: { sdkVersion }, isHelperUsable }: BackendStart): string | undefined {
  if (sdkVersion < lowestSdk) return 'the UI helper needs Android 8.0 or newer.';
  return isHelperUsable
    ? undefined
    : 'the UI helper stopped too often. Plug the phone in again to give it another chance.';
}

/** Starts a helper. Rejects when it does not run within the timeout or can't run. */
export async function startHelperOnce(start: HelperStart, helper: Helper): Promise<UiBackend> {
  const { shell, phone, signal, onLaunched, renewals } = start;
  const timeoutMs = helper === 'resident' ? residentTimeoutMs : startTimeoutMs;
  const onTimeout = (): Error =>
    new DriverError('ui_helper_failed', `The UI helper did not start in ${timeoutMs / 1000} s.`);
  return await withTimeLimit({ timeoutMs, signals: [signal], onTimeout }, async (limited) => {
    const launch = { signal: limited, onLaunched };
    if (helper === 'uiautomator2') return await createUiautomator2Backend(shell, phone, launch, renewals);
    await stopHelper(shell, limited);
    return await createResidentBackend(shell, launch, renewals);
  });
}

async function tryHelper(start: BackendStart, helper: Helper): Promise<Outcome> {
  const { shell, phone, signal, onFailure } = start;
  const backoff = createBackoff({ firstMs: 500, maxMs: 5000 });
  let failure = '';
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    try {
      return { backend: await startHelperOnce(start, helper) };
    } catch (error) {
      if (signal.aborted || shell.connection.gone.aborted) throw error;
      failure = errorText(error);
      if (error instanceof DriverError) failure += switchAdvice(error, phone.brand);
      onFailure(`Starting the UI helper, attempt ${attempt} of ${maxAttempts} failed: ${failure}`);
      // A retry would push 18 MB again and fail the same way.
      if (error instanceof DriverError && error.code === 'ui_helper_refused') break;
    }
    await pause(backoff.nextMs(), signal);
  }
  return { failure };
}

interface HelperSeeker {
  /** Aborts when the helper runs, so that the slower backend can end. */
  readonly found: AbortSignal;
  /** Returns the helper that was found. The caller owns it from then on. */
  backend(): UiBackend | undefined;
  /** Ends the search. A helper that starts later is closed again. */
  stop(): void;
}

interface Seeking extends BackendStart {
  readonly firstMs: number;
  readonly starts: StartQueue;
  readonly isBusy: () => boolean;
}

/**
 * Retries to start the helper while the phone is idle, because the cause (such as a setting or a full disk) may be
 * fixed.
 */
export function seekHelper({ firstMs, starts, isBusy, ...start }: Seeking): HelperSeeker {
  const found = new AbortController();
  const stopped = new AbortController();
  const unfollow = follow(start.signal, stopped);
  let backend: UiBackend | undefined;
  const backoff = createBackoff({ firstMs, maxMs: firstMs * 10 });
  const seek = async (): Promise<void> => {
    while (!stopped.signal.aborted && backend === undefined) {
      await pause(backoff.nextMs(), stopped.signal);
      if (stopped.signal.aborted || isBusy()) continue;
      const request = { signal: stopped.signal, rank: 'unknown' as const, onWait: () => {} };
      const one = await starts
        .run(request, (turn) =>
          startHelperOnce({ ...start, signal: stopped.signal, onLaunched: () => turn.end() }, 'uiautomator2'),
        )
        .catch(() => undefined);
      if (stopped.signal.aborted) one?.close();
      else backend = one;
    }
    if (backend !== undefined) found.abort();
  };
  void seek();
  return {
    found: found.signal,
    backend: () => backend,
    stop: () => {
      unfollow();
      stopped.abort(new Error('The search for the UI helper was ended'));
    },
  };
}
