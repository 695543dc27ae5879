import type { PhoneEvent, PhoneHealth } from '@phalanx/protocol';

import type { ServiceClock } from '../../connection/service-clock.ts';
import { type AnswerOptions, answerRequest, type PhoneRequest } from '../requests/answer-request.ts';

/** Answers one `health` of the server: JSON of a `PhoneHealth`, in the service's time. */
export const answerHealth = (
  request: PhoneRequest,
  { clock, ...options }: AnswerOptions & { clock: ServiceClock },
): Promise<void> =>
  answerRequest({ ...request, type: 'health' }, options, async ({ facts, history }) => {
    const inServiceTime = (event: PhoneEvent): PhoneEvent => ({ ...event, at: clock.toService(event.at) });
    const health: PhoneHealth = {
      facts: facts && { ...facts, sampled_at: clock.toService(facts.sampled_at) },
      last_repair: history.lastRepair && inServiceTime(history.lastRepair),
      events: history.list().map(inServiceTime),
    };
    return Buffer.from(JSON.stringify(health));
  });
