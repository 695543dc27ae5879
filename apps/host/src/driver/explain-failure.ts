import type { PhoneCallName } from '@phalanx/protocol';
import { pause } from '../time/time-limit.ts';
import { DriverError } from './driver-error.ts';
import type { PhoneShell } from './phone-shell.ts';
import type { UiBackend } from './ui-backend.ts';

export interface OneCall {
  readonly name: PhoneCallName;
  readonly params: object;
  readonly signal: AbortSignal | undefined;
}

interface CalledPhone {
  readonly serial: string;
  readonly shell: PhoneShell;
  readonly backend: UiBackend;
}

// An adb server tells that a phone has left about 100 ms after the phone's sockets broke.
const goneGraceMs = 300;

/** What a caller is told of a failed call. */
export async function explainFailure(
  error: unknown,
  call: OneCall,
  phone: CalledPhone,
): Promise<DriverError> {
  const { signal } = call;
  const { gone } = phone.shell.connection;
  const about = `${call.name} on the phone ${phone.serial}`;
  if (signal?.aborted === true && error === signal.reason) {
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
  if (error instanceof DriverError) return new DriverError(error.code, `${about}: ${error.message}`, error);
  return new DriverError('phone_answer_unexpected', `${about} failed: ${textOf(error)}.`, error);
}

function textOf(reason: unknown): string {
  return reason instanceof Error ? reason.message.replace(/\.$/, '') : String(reason);
}
