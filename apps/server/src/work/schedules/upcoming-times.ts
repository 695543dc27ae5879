import { boundedCache } from '../../kernel/bounded-cache.ts';
import { CronTimes } from './cron-times.ts';

const shownTimes = 5;
const maxRemembered = 10_000;

/** Cache of the next five times of schedules. Times are computed again when the first of them has passed. */
export class UpcomingTimes {
  readonly #known = boundedCache<readonly number[]>(maxRemembered);

  /** Returns the next times, epoch ms, fewer than five when no more follow. */
  of({ cron, time_zone: zone }: { cron: string; time_zone: string }, now: number): readonly number[] {
    const key = JSON.stringify([cron, zone]);
    const known = this.#known.get(key);
    if (known !== undefined && (known[0] ?? Infinity) > now) return known;
    const times = new CronTimes(cron, zone).list(shownTimes, now);
    this.#known.set(key, times);
    return times;
  }
}
