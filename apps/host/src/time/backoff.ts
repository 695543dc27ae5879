export interface Backoff {
  /** The wait before the next attempt: doubles from `firstMs` to `lastMs`, less up to a quarter of jitter. */
  nextMs(): number;
  /** Call after a success. */
  reset(): void;
}

/** Jitter keeps a hundred phones that lost one access point from coming back in the same millisecond. */
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
