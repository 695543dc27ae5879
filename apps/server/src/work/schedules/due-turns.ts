import { minuteMs } from '@phalanx/timing/durations';
import { TimeSlice } from '../../kernel/limits/time-slice.ts';
import type { CronTimes } from './cron-times.ts';

/** Maximum delay of a turn. A turn with a longer delay counts as missed. */
export const graceMs = 10 * minuteMs;
/** Maximum number of turns that are counted, because each takes up to a millisecond. */
const maxCounted = 300;

interface DueTurns {
  /** Planned time of the turn whose job is to be made; undefined when there is none. */
  readonly fire: number | undefined;
  /** Number of missed turns and the time of the first one; undefined when there are none. */
  readonly missed: { readonly count: number; readonly first: number } | undefined;
  /** Time of the next turn; undefined when there is none. */
  readonly next: number | undefined;
}

/** Decides which of the turns from `planned` until now are made. Of missed turns, at most the last one is made. */
export async function findDue(
  times: CronTimes,
  planned: number,
  missed: 'none' | 'last',
  now: number,
): Promise<DueTurns> {
  const slice = new TimeSlice();
  let [last, count] = [planned, 1];
  let next = times.next(planned);
  while (next !== undefined && next <= now && count < maxCounted) {
    [last, count] = [next, count + 1];
    next = times.next(next);
    if (slice.isOver) await slice.next();
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
