import type { Clock } from '../../kernel/clock.ts';

/** Rate at which a measured offset becomes less certain, because clocks drift and are set; ms per ms. */
const driftRate = 0.01;

/** Clock with the time of the database, which all servers share. It never goes back. */
export class DatabaseClock implements Clock {
  #offsetMs = 0;
  #uncertaintyMs = Number.POSITIVE_INFINITY;
  #measuredAt = 0;
  #latest = 0;

  now(): number {
    this.#latest = Math.max(this.#latest, Math.round(Date.now() + this.#offsetMs));
    return this.#latest;
  }

  /**
   * `databaseNow` was read while `askedAt` to `answeredAt` passed here; all are epoch ms. An answer that took long,
   * from a database or to a server that stood still, says less than an earlier quick one, and is ignored.
   */
  adjust(databaseNow: number, askedAt: number, answeredAt: number): void {
    const uncertaintyMs = Math.abs(answeredAt - askedAt) / 2;
    const ageMs = Math.abs(answeredAt - this.#measuredAt);
    if (uncertaintyMs > this.#uncertaintyMs + ageMs * driftRate + 1) return;
    this.#offsetMs = databaseNow - (askedAt + answeredAt) / 2;
    this.#uncertaintyMs = uncertaintyMs;
    this.#measuredAt = answeredAt;
  }
}
