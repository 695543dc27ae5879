import type { DeviceInfo, PhoneCallName } from '@phalanx/protocol';

import type { HostTimings } from '../time/host-timings.ts';
import { pause, withTimeLimit } from '../time/time-limit.ts';
import { switchAdvice } from './apps/maker-switches.ts';
import { DriverError } from './driver-error.ts';
import type { PhoneShell } from './shell/phone-shell.ts';

interface OneCall {
  readonly name: PhoneCallName;
  readonly params: object;
  readonly signal: AbortSignal | undefined;
  /** Aborted when the use of the phone ends. */
  readonly over?: AbortSignal | undefined;
}

/** Phone that executes a call, with what its caller needs to know of it. */
export interface DrivenPhone {
  readonly serial: string;
  readonly shell: PhoneShell;
  readonly deviceInfo: () => DeviceInfo;
  readonly timings: Pick<HostTimings, 'callTimeoutMs'>;
  /** Aborts when the phone or its helper is lost. */
  readonly lost: AbortSignal;
  readonly onAnswer?: (() => void) | undefined;
}

// An adb server reports that a phone has left about 100 ms after the phone's sockets broke.
const goneGraceMs = 300;

/** Time in ms for an installation: a phone may verify and compile an APK for minutes. */
const installMs = 180_000;

/** Returns the time in ms that a call itself takes, on a phone that answers at once. */
function ownTimeOf({ name, params }: OneCall): number {
  if (name === 'app.install') return installMs;
  if ('durationMs' in params && typeof params.durationMs === 'number') return params.durationMs;
  return 'timeoutMs' in params && typeof params.timeoutMs === 'number' ? params.timeoutMs : 0;
}

/** Runs a call within its time limit. Rejects only with a DriverError for its caller. */
export async function limited<T>(
  phone: DrivenPhone,
  call: OneCall,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { serial, lost, timings } = phone;
  const limitMs = timings.callTimeoutMs + ownTimeOf(call);
  const onTimeout = (): Error =>
    new DriverError(
      'call_timed_out',
      `The phone ${serial} did not finish ${call.name} in ${limitMs / 1000} s.`,
    );
  try {
    const signals = [call.signal, call.over, lost];
    const result = await withTimeLimit({ timeoutMs: limitMs, signals, onTimeout }, work);
    phone.onAnswer?.();
    return result;
  } catch (error) {
    throw await explainFailure(error, call, phone);
  }
}

/** Returns the error of a failed call for its caller. */
async function explainFailure(error: unknown, call: OneCall, phone: DrivenPhone): Promise<DriverError> {
  const { signal, over } = call;
  const { gone } = phone.shell.connection;
  const about = `${call.name} on the phone ${phone.serial}`;
  if ([signal, over].some((one) => one?.aborted === true && error === one.reason)) {
    return new DriverError('call_cancelled', `${about} was cancelled: ${textOf(error)}.`, error);
  }
  if (error instanceof DriverError && error.code === 'ui_helper_failed') await pause(goneGraceMs, gone);
  if (gone.aborted) {
    return new DriverError(
      'phone_gone',
      `${about} failed because the phone is gone: ${textOf(gone.reason)}.`,
      error,
    );
  }
  if (error instanceof DriverError) {
    const advice = switchAdvice(error, phone.deviceInfo().brand);
    return new DriverError(error.code, `${about}: ${error.message}${advice}`, error);
  }
  return new DriverError('phone_answer_unexpected', `${about} failed: ${textOf(error)}.`, error);
}

function textOf(reason: unknown): string {
  return reason instanceof Error ? reason.message.replace(/\.$/, '') : String(reason);
}
