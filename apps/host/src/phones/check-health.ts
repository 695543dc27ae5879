import type { PhoneShell } from '../driver/phone-shell.ts';
import type { UiBackend } from '../driver/ui-backend.ts';
import { withTimeLimit } from '../time/time-limit.ts';
import type { PhoneRecord } from './phone-record.ts';
import { type PhoneRules, reasonToRest } from './phone-rules.ts';
import { sampleFacts } from './sample-facts.ts';

/** A helper that sees the screen names its windows within a fraction of a second. */
const seeingMs = 10_000;

export interface HealthCheck {
  readonly phone: PhoneRecord;
  readonly shell: PhoneShell;
  readonly backend: UiBackend;
  readonly rules: PhoneRules;
  /** Calls of user code wait or run: then they tell, and nothing stands in their way. */
  readonly isBusy: () => boolean;
}

/** Looks after a phone that answers: how it is, and whether its helper still sees anything. Rejects when it does not. */
export async function checkHealth({ phone, shell, backend, rules, isBusy }: HealthCheck): Promise<void> {
  const facts = await sampleFacts(shell, () => phone.now()).catch(() => undefined);
  if (facts === undefined) return;
  phone.setFacts(facts);
  const isResting = phone.state.state === 'resting';
  const reason = reasonToRest(facts, rules, isResting);
  if (reason !== undefined) phone.rest(reason);
  else if (isResting) phone.endRest();
  if (isBusy() || facts.screen === 'off') return;
  const onTimeout = (): Error =>
    new Error('The UI helper says that it is well, and does nothing that it is asked for.');
  await withTimeLimit(
    { timeoutMs: seeingMs, signals: [shell.connection.gone, backend.failed], onTimeout },
    (signal) => backend.probeScreen(signal),
  );
}
