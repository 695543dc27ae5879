import type { TimeInput } from '@phalanx/protocol';
import { ApiError } from '../../kernel/errors/api-error.ts';

const isoTime = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2}))?$/;

/** Checks the day, because `Date.parse` turns February 30 into a day of March. */
function isDay(text: string): boolean {
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/**
 * Parses a time, in epoch ms. `field` is the name for the caller, such as `Field expires_at`. Throws `invalid_request`.
 */
export function parseTime(input: TimeInput, field: string): number {
  if (typeof input === 'number') return input;
  const day = isoTime.exec(input)?.[1];
  const time = day !== undefined && isDay(day) ? Date.parse(input) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw ApiError.of('invalid_request', {
    problem: `${field} must be milliseconds since the Unix epoch, or an ISO 8601 time with a zone such as 2030-01-31T12:00:00Z`,
  });
}
