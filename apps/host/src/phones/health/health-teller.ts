import type { HostQuestionOf, PhoneEvent, PhoneHealth } from '@phalanx/protocol';

import type { Phone } from '../phone.ts';
import type { AnswerContext } from '../requests/answer-context.ts';

/** JSON of a `PhoneHealth`, in the service's time. */
export async function tellHealth(
  { facts, history }: Phone,
  _question: HostQuestionOf<'health'>,
  { clock }: AnswerContext,
): Promise<Buffer> {
  const inServiceTime = (event: PhoneEvent): PhoneEvent => ({ ...event, at: clock.toService(event.at) });
  const health: PhoneHealth = {
    facts: facts && { ...facts, sampled_at: clock.toService(facts.sampled_at) },
    last_repair: history.lastRepair && inServiceTime(history.lastRepair),
    events: history.list().map(inServiceTime),
  };
  return Buffer.from(JSON.stringify(health));
}
