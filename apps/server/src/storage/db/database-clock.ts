import type { Clock } from '../../kernel/clock.ts';

/** Rate at which a measured offset loses certainty, because clocks drift and are adjusted; in ms per ms. */
const driftRate = 0.01;

/** Clock that follows the time of the database, which all servers share. Never goes backward. */
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
   * Adjusts the offset. `databaseNow` was read between `askedAt` and `answeredAt` of the local clock; all are epoch ms.
   * A slow answer, by the database or because this server stood still, is less precise than an earlier quick one and is
   * ignored.
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
