const secondMs = 1000;

/** Lets `perSecond` units through on average and `burst` at once. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #now: () => number;
  #tokens: number;
  #filledAt: number;

  /** `now` returns milliseconds that never go backwards. */
  constructor(perSecond: number, burst: number, now = (): number => performance.now()) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#now = now;
    this.#tokens = burst;
    this.#filledAt = now();
  }

  /** Takes `count` units, even more than are left. Returns how long the caller must wait, in milliseconds. */
  take(count: number): number {
    this.#fill();
    this.#tokens -= count;
    return this.waitMs(0);
  }

  /** Returns the wait until `count` units are available, in milliseconds; 0 when they are. */
  waitMs(count: number): number {
    this.#fill();
    return Math.max(0, ((count - this.#tokens) / this.#perSecond) * secondMs);
  }

  #fill(): void {
    const now = this.#now();
    this.#tokens = Math.min(
      this.#burst,
      this.#tokens + ((now - this.#filledAt) / secondMs) * this.#perSecond,
    );
    this.#filledAt = now;
  }
}
