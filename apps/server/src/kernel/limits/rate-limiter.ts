import { boundedCache } from '../bounded-cache.ts';
import { secondMs } from '../durations.ts';

/** Who was seen least recently makes room, with a limit that is unused again. */
const maxKeys = 10_000;

interface RateLimiterOptions {
  perSecond: number;
  /** So many seconds' worth may be spent at once. */
  burstSeconds: number;
}

/**
 * So much a second of something, for each key. One number a key: when all that was spent will have come back. Spending
 * is refused while more than the burst is outstanding, so the last that is spent may go beyond it.
 */
export class RateLimiter {
  readonly #accounts = boundedCache<{ paidAt: number }>(maxKeys);
  readonly #msEach: number;
  readonly #burstMs: number;

  constructor({ perSecond, burstSeconds }: RateLimiterOptions) {
    this.#msEach = secondMs / perSecond;
    this.#burstMs = burstSeconds * secondMs;
  }

  /** Returns 0 when it was spent, or else after how many milliseconds it may be tried again. */
  spend(key: string, amount = 1): number {
    const now = performance.now();
    const account = this.#accounts.get(key) ?? { paidAt: 0 };
    const paidAt = Math.max(account.paidAt, now);
    const waitMs = this.#waitOf(paidAt, now);
    // To put it into the cache takes ten times as long as to find it there.
    if (account.paidAt === 0) this.#accounts.set(key, account);
    if (waitMs === 0) account.paidAt = paidAt + amount * this.#msEach;
    return waitMs;
  }

  /** The same question without spending. */
  waitMs(key: string): number {
    const now = performance.now();
    return this.#waitOf(this.#accounts.get(key)?.paidAt ?? 0, now);
  }

  /** What is outstanding of the burst, from 0 to 1. */
  share(key: string): number {
    const outstandingMs = (this.#accounts.get(key)?.paidAt ?? 0) - performance.now();
    return Math.min(1, Math.max(0, outstandingMs) / this.#burstMs);
  }

  /** One spending fits when nothing is outstanding, however small the burst. */
  #waitOf(paidAt: number, now: number): number {
    return Math.max(0, paidAt - now - this.#burstMs + this.#msEach);
  }
}
