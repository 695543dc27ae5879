import { Cron } from 'croner';
import { secondMs } from '@phalanx/timing/durations';
import { ApiError } from '../../kernel/errors/api-error.ts';

/** Number of future years that are searched. 29 February falls on a Monday after up to 40 years. */
const futureYears = 50;
/** Number of past years that are searched. Missed turns are not older. */
const pastYears = 10;

/**
 * Computes the times of a schedule's turns. Distant years are not searched: times that occur rarely or never would cost
 * as much as those of many schedules.
 */
export class CronTimes {
  readonly #cron: Cron;

  /** Parses a cron expression. Throws `invalid_cron`. */
  constructor(cron: string, timeZone: string) {
    try {
      if (!isKnownZone(timeZone)) throw new Error(`there is no time zone "${timeZone}"`);
      this.#cron = parse(cron, timeZone);
      if (this.#cron.nextRun() === null)
        throw new Error(`there is no such time in the next ${futureYears} years`);
    } catch (error) {
      const problem = error instanceof Error ? error.message : 'it cannot be read';
      throw ApiError.of('invalid_cron', { cron, time_zone: timeZone, problem }, { cause: error });
    }
  }

  /** Returns the first time after `after`, epoch ms, or undefined when there is none. */
  next(after: number): number | undefined {
    return this.#cron.nextRun(new Date(after))?.getTime();
  }

  /** Returns the last time until `until`, epoch ms, or undefined when there is none. */
  last(until: number): number | undefined {
    // The search is for times before another one, and times are whole seconds.
    const after = Math.floor(until / secondMs) * secondMs + secondMs;
    return this.#cron.previousRuns(1, new Date(after))[0]?.getTime();
  }

  list(count: number, after: number): number[] {
    return this.#cron.nextRuns(count, new Date(after)).map((time) => time.getTime());
  }
}

function isKnownZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** Parses an expression. Throws unless it has five parts. */
function parse(cron: string, timezone: string): Cron {
  const ofFive = new Cron(cron, { timezone, mode: '5-part', paused: true });
  // An alias of a frequent expression, such as `@daily`.
  if (cron.includes('@')) return ofFive;
  const year = new Date().getFullYear();
  const years = `${year - pastYears}-${year + futureYears}`;
  return new Cron(`0 ${cron} ${years}`, { timezone, mode: '7-part', paused: true });
}
