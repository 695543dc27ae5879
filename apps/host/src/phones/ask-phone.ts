import { DriverError } from '../driver/driver-error.ts';
import type { PhoneShell } from '../driver/shell/phone-shell.ts';
import { withTimeLimit } from '../time/time-limit.ts';

const answerTimeoutMs = 5000;

/** Asks the phone a question that a healthy phone answers at once. */
export async function askPhone<T>(shell: PhoneShell, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const onTimeout = (): Error =>
    new DriverError('call_timed_out', `The phone did not answer in ${answerTimeoutMs / 1000} s.`);
  return await withTimeLimit(
    { timeoutMs: answerTimeoutMs, signals: [shell.connection.gone], onTimeout },
    ask,
  );
}
