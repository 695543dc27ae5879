const minuteMs = 60_000;

/** So much at once, and so much more each minute: what lasts for days needs a rate, not a total. */
export interface AllowanceRate {
  atOnce: number;
  perMinute: number;
}

/** How much of something a run may still use up. */
export class Allowance {
  readonly #rate: AllowanceRate;
  readonly #now: () => number;
  #left: number;
  #filledAt: number;

  /** `now`: milliseconds that never go backwards. */
  constructor(rate: AllowanceRate, now = (): number => performance.now()) {
    this.#rate = rate;
    this.#now = now;
    this.#left = rate.atOnce;
    this.#filledAt = now();
  }

  /** May take more than is left: what follows waits for it. */
  take(amount: number): void {
    this.#fill();
    this.#left -= amount;
  }

  /** How long until `amount` is there, in milliseconds; 0 when it is. */
  waitMs(amount: number): number {
    this.#fill();
    return Math.max(0, ((amount - this.#left) / this.#rate.perMinute) * minuteMs);
  }

  #fill(): void {
    const now = this.#now();
    const { atOnce, perMinute } = this.#rate;
    this.#left = Math.min(atOnce, this.#left + ((now - this.#filledAt) / minuteMs) * perMinute);
    this.#filledAt = now;
  }
}
