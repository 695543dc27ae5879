import type { ServiceClock } from '../../connection/service-clock.ts';

/** What an answer to the server needs besides the phone. */
export interface AnswerContext {
  readonly clock: ServiceClock;
  readonly signal: AbortSignal;
  /** Whether the operator lets others install apps. */
  readonly mayChangeApps: boolean;
}
