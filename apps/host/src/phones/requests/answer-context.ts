import type { RunPermissions } from '../../runs/run-permissions.ts';
import type { ServiceClock } from '../../connection/service-clock.ts';

/** What an answer to the server needs besides the phone. */
export interface AnswerContext {
  readonly clock: ServiceClock;
  readonly signal: AbortSignal;
  /** What the operator lets others do to phones beyond using them. */
  readonly permissions: RunPermissions;
}
