import { boundedCache } from '../bounded-cache.ts';
import { secondMs } from '@phalanx/timing/durations';

/** Maximum number of keys. The least recently used key makes room; its limit counts as unused again. */
const maxKeys = 10_000;

interface RateLimiterOptions {
  perSecond: number;
  /** Burst that may be spent at once, in seconds of the rate. */
  burstSeconds: number;
}

/**
 * Limits a rate, per key. A key has one number: the time when all units that it spent will have been restored.
 * Spending is refused while the burst has no room for one unit, so a larger amount may go beyond it.
 */
export class RateLimiter {
  readonly #accounts = boundedCache<{ paidAt: number }>(maxKeys);
  readonly #msEach: number;
  readonly #burstMs: number;

  constructor({ perSecond, burstSeconds }: RateLimiterOptions) {
    this.#msEach = secondMs / perSecond;
    // A rate may be so low that one unit takes longer than the burst.
    this.#burstMs = Math.max(burstSeconds * secondMs, this.#msEach);
  }

  /** Returns 0 when it was spent, or else the wait before a retry, in ms. */
  spend(key: string, amount = 1): number {
    const now = performance.now();
    const account = this.#accounts.get(key) ?? { paidAt: 0 };
    const paidAt = Math.max(account.paidAt, now);
    const waitMs = this.#waitOf(paidAt, now);
    // A cache insert takes ten times as long as a lookup.
    if (account.paidAt === 0) this.#accounts.set(key, account);
    if (waitMs === 0) account.paidAt = paidAt + amount * this.#msEach;
    return waitMs;
  }

  /** Returns the same wait without spending. */
  waitMs(key: string): number {
    const now = performance.now();
    return this.#waitOf(this.#accounts.get(key)?.paidAt ?? 0, now);
  }

  /** Outstanding share of the burst, from 0 to 1. */
  share(key: string): number {
    const outstandingMs = (this.#accounts.get(key)?.paidAt ?? 0) - performance.now();
    return Math.min(1, Math.max(0, outstandingMs) / this.#burstMs);
  }

  /** One unit always fits when nothing is outstanding. */
  #waitOf(paidAt: number, now: number): number {
    return Math.max(0, paidAt - now - this.#burstMs + this.#msEach);
  }
}
