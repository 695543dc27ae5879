import { DriverError } from '../driver/driver-error.ts';
import type { PhoneShell } from '../driver/phone-shell.ts';
import type { UiBackend } from '../driver/ui-backend.ts';
import { follow, pause } from '../time/time-limit.ts';
import { type ProbeResult, probePhone } from './heartbeat.ts';
import { checkHealth } from './check-health.ts';
import type { PhoneRules } from './phone-rules.ts';
import type { PhoneRecord } from './phone-record.ts';

const goneGraceMs = 300;
const minPauseMs = 50;

export interface Beating {
  readonly phone: PhoneRecord;
  readonly shell: PhoneShell;
  readonly backend: UiBackend;
  readonly options: {
    readonly heartbeatMs: number;
    readonly probeTimeoutMs: number;
    readonly callTimeoutMs: number;
    readonly healthMs: number;
    readonly rules: PhoneRules;
  };
  readonly isBusy: () => boolean;
  /** Aborted when a better backend was found. */
  readonly found: AbortSignal | undefined;
}

/** Probes until the backend fails or a better one was found (returns) or the phone does (throws). */
export async function keepAlive(beating: Beating): Promise<void> {
  const { phone, shell, backend, options } = beating;
  const { gone } = shell.connection;
  const waiting = new AbortController();
  const stops = [gone, backend.failed, beating.found].map((signal) => follow(signal, waiting));
  let blindness: string | undefined;
  const isHelperStuck = createPatience(beating);
  let beganAt = performance.now();
  let checkedAt = Number.NEGATIVE_INFINITY;
  try {
    for (;;) {
      // Counted from the last beat, so that a slow answer doesn't put off the next question.
      await pause(Math.max(minPauseMs, options.heartbeatMs - (performance.now() - beganAt)), waiting.signal);
      // The helper's connection ends a little before the phone is known to be gone.
      if (backend.failed.aborted) await pause(goneGraceMs, gone);
      gone.throwIfAborted();
      if (beating.found?.aborted === true) return;
      if (backend.failed.aborted) {
        phone.setTrouble('helper_failed', `${reasonOf(backend.failed)} Restarting it.`);
        return;
      }
      beganAt = performance.now();
      const onAnswer = (): void => phone.confirm();
      const result = await probePhone({ shell, backend, timeoutMs: options.probeTimeoutMs, onAnswer });
      gone.throwIfAborted();
      if (result === 'phone') {
        throw new DriverError(
          'phone_gone',
          `The phone did not answer in ${options.probeTimeoutMs / 1000} s.`,
        );
      }
      if (result === 'alive' && performance.now() - checkedAt > options.healthMs) {
        checkedAt = performance.now();
        await checkHealth({ ...beating, rules: options.rules }).catch((error: unknown) => {
          gone.throwIfAborted();
          if (!backend.failed.aborted) blindness = error instanceof Error ? error.message : String(error);
        });
        if (blindness !== undefined) {
          phone.setTrouble('helper_failed', `${blindness} Restarting it.`);
          return;
        }
      }
      if (isHelperStuck(result)) {
        phone.setTrouble('helper_failed', 'The UI helper on the phone does not answer. Restarting it.');
        return;
      }
    }
  } finally {
    for (const stop of stops) stop();
  }
}

/** The helper does one thing at a time: a long call of user code keeps it from answering, but not for longer than two calls may take. */
function createPatience({ isBusy, options }: Beating): (result: ProbeResult) => boolean {
  let silentSince: number | undefined;
  return (result) => {
    if (result === 'alive') silentSince = undefined;
    else silentSince ??= performance.now();
    if (silentSince === undefined) return false;
    return !isBusy() || performance.now() - silentSince > 2 * options.callTimeoutMs;
  };
}

function reasonOf(signal: AbortSignal): string {
  return signal.reason instanceof Error ? signal.reason.message : String(signal.reason);
}
