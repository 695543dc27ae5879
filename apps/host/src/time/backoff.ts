import { Backoff } from '@phalanx/timing/backoff';

/**
 * Creates a backoff with jitter, which keeps a hundred phones that lost one access point from reconnecting in the same
 * millisecond.
 */
export const createBackoff = ({ firstMs = 200, maxMs = 10_000 } = {}): Backoff =>
  new Backoff({ firstMs, maxMs, jitter: 0.25 });
