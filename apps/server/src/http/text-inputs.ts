import type { TimeInput } from '@phalanx/protocol';

import { ApiError } from '../errors/api-error.ts';

// oxlint-disable-next-line no-control-regex
const controlCharacter = /[\u0000-\u001F\u007F-\u009F]/;

function findProblem(name: string): string | undefined {
  if (name === '') return 'must not be empty';
  if (controlCharacter.test(name)) return 'must not contain control characters';
  return name.isWellFormed() ? undefined : 'must be valid Unicode';
}

/** A name that people can read, without the white space around it. Throws `invalid_request`. */
export function requireName(text: string): string {
  const name = text.trim();
  const problem = findProblem(name);
  if (problem === undefined) return name;
  throw ApiError.of('invalid_request', { problem: `Field name ${problem}` });
}

const isoTime = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2}))?$/;

/** `Date.parse` makes a day of March of the 30th of February. */
function isDay(text: string): boolean {
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** Epoch ms. `field` is named as the caller knows it: `Field expires_at`. Throws `invalid_request`. */
export function parseTime(input: TimeInput, field: string): number {
  if (typeof input === 'number') return input;
  const day = isoTime.exec(input)?.[1];
  const time = day !== undefined && isDay(day) ? Date.parse(input) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw ApiError.of('invalid_request', {
    problem: `${field} must be milliseconds since the Unix epoch, or an ISO 8601 time with a zone such as 2030-01-31T12:00:00Z`,
  });
}
