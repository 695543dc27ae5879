import { pause } from '../../time/time-limit.ts';

/** Pause in milliseconds between two readings that must match, and before the first reading after an input. */
export const restMs = 120;
/** Time in milliseconds after which a continuously moving screen counts as at rest. */
const maxWaitMs = 3000;

/**
 * Reads a screen until two consecutive readings have the same digest. `before` is the digest of an earlier reading that
 * still counts. A screen that still moves after three seconds counts as at rest.
 */
export async function whenAtRest(
  look: () => Promise<string>,
  signal: AbortSignal,
  before?: string,
): Promise<void> {
  const until = performance.now() + maxWaitMs;
  for (let last = before; ;) {
    const digest = await look();
    if (digest === last || performance.now() >= until) return;
    last = digest;
    await pause(restMs, signal);
    signal.throwIfAborted();
  }
}
