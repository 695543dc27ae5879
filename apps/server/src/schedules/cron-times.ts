import { Cron } from 'croner';

import { ApiError } from '../errors/api-error.ts';

/** When a schedule has its turns. */
export class CronTimes {
  readonly #cron: Cron;

  /** Throws `invalid_cron`. */
  constructor(cron: string, timeZone: string) {
    try {
      this.#cron = new Cron(cron, { timezone: timeZone, mode: '5-part', paused: true });
      // It finds out an unknown zone with the first time.
      if (this.#cron.nextRun() === null) throw new Error('there is no such time');
    } catch (error) {
      const problem = error instanceof Error ? error.message : 'it cannot be read';
      throw ApiError.of('invalid_cron', { cron, time_zone: timeZone, problem }, { cause: error });
    }
  }

  /** The first time after `after`; undefined: there is none. Epoch ms. */
  next(after: number): number | undefined {
    return this.#cron.nextRun(new Date(after))?.getTime();
  }

  /** The last time until `until`. */
  last(until: number): number | undefined {
    return this.#cron.previousRuns(1, new Date(until + 1000))[0]?.getTime();
  }

  list(count: number, after: number): number[] {
    return this.#cron.nextRuns(count, new Date(after)).map((time) => time.getTime());
  }
}

/** A turn that comes later than this has been missed. */
export const graceMs = 10 * 60_000;
/** More are counted as so many: each takes a quarter of a millisecond. */
const mostCounted = 300;

export interface DueTurns {
  /** The time whose job is to be made; undefined: none. */
  readonly fire: number | undefined;
  /** How many others have passed, and the first of them. */
  readonly missed: { readonly count: number; readonly first: number } | undefined;
  /** Undefined: there is no further one. */
  readonly next: number | undefined;
}

/** What is to be done of the turns from `planned` until now; of those that were missed, at most the last one. */
export function findDue(times: CronTimes, planned: number, missed: 'none' | 'last', now: number): DueTurns {
  let [last, count] = [planned, 1];
  let next = times.next(planned);
  while (next !== undefined && next <= now && count < mostCounted) {
    [last, count] = [next, count + 1];
    next = times.next(next);
  }
  if (next !== undefined && next <= now) {
    last = times.last(now) ?? last;
    next = times.next(now);
  }
  const isFired = missed === 'last' || now - last <= graceMs;
  const skipped = count - Number(isFired);
  return {
    fire: isFired ? last : undefined,
    missed: skipped === 0 ? undefined : { count: skipped, first: planned },
    next,
  };
}
