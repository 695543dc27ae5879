export interface Backoff {
  /**
   * Returns the wait before the next attempt, in milliseconds. It doubles from `firstMs` to `lastMs`, less up to a
   * quarter of jitter.
   */
  nextMs(): number;
  /** Resets the wait to `firstMs`. Call it after a success. */
  reset(): void;
}

/**
 * Creates an exponential backoff with jitter, which keeps a hundred phones that lost one access point from reconnecting
 * in the same millisecond.
 */
export function createBackoff({ firstMs = 200, lastMs = 10_000 } = {}): Backoff {
  let failures = 0;
  return {
    nextMs() {
      const fullMs = Math.min(lastMs, firstMs * 2 ** failures);
      failures = Math.min(failures + 1, 30);
      return fullMs * (0.75 + Math.random() * 0.25);
    },
    reset() {
      failures = 0;
    },
  };
}
