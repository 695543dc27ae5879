import { DriverError } from '../driver/driver-error.ts';
import type { PhoneShell } from '../driver/phone-shell.ts';
import type { UiBackend } from '../driver/ui-backend.ts';
import { withTimeLimit } from '../time/time-limit.ts';

/** `helper`: the phone answers but its UI helper doesn't. `phone`: nothing answers. */
export type ProbeResult = 'alive' | 'helper' | 'phone';

// An answering helper proves the connection too. The shell is asked only when the helper is slow.
const hedgeMs = 500;

export interface Probe {
  readonly shell: PhoneShell;
  readonly backend: UiBackend;
  readonly timeoutMs: number;
  /** Told at the phone's first answer, which may come before the result. */
  readonly onAnswer: () => void;
}

/** Asks a phone for a sign of life, once, within the limit. */
export async function probePhone({ shell, backend, timeoutMs, onAnswer }: Probe): Promise<ProbeResult> {
  const onTimeout = (): Error => new DriverError('call_timed_out', 'The phone did not answer.');
  const limit = { timeoutMs, signals: [shell.connection.gone], onTimeout };
  const helper = answers(() => withTimeLimit(limit, (signal) => backend.probe(signal)));
  const { promise: hedge, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), Math.min(hedgeMs, timeoutMs / 4));
  const early = await Promise.race([helper, hedge]);
  clearTimeout(timer);
  if (early === true) {
    onAnswer();
    return 'alive';
  }
  const echo = await answers(() =>
    withTimeLimit({ ...limit, timeoutMs: timeoutMs * 0.75 }, (signal) => shell.run('echo alive', signal)),
  );
  if (echo) onAnswer();
  if (await helper) {
    onAnswer();
    return 'alive';
  }
  return echo ? 'helper' : 'phone';
}

async function answers(ask: () => Promise<unknown>): Promise<boolean> {
  return await ask().then(
    () => true,
    () => false,
  );
}
