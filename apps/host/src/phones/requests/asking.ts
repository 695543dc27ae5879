import type { ServiceClock } from '../../connection/service-clock.ts';

/** What a question of the server is answered with beside the phone. */
export interface Asking {
  readonly clock: ServiceClock;
  readonly signal: AbortSignal;
}
