import type { Clock } from '../clock.ts';

/** The time of the database, so that all servers have one. It never goes back. */
export class DatabaseClock implements Clock {
  #offsetMs = 0;
  #latest = 0;

  now(): number {
    this.#latest = Math.max(this.#latest, Math.round(Date.now() + this.#offsetMs));
    return this.#latest;
  }

  /** `databaseNow` was read while `askedAt` to `answeredAt` passed here; all are epoch ms. */
  adjust(databaseNow: number, askedAt: number, answeredAt: number): void {
    this.#offsetMs = databaseNow - (askedAt + answeredAt) / 2;
  }
}
