import { InvalidArgumentError } from 'commander';

/** Collects the values of a repeatable option. */
export const repeated = (value: string, before: readonly string[]): string[] => [...before, value];

/** Parses `--limit`. */
export function parseLimit(text: string): number {
  const limit = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (limit >= 1) return limit;
  throw new InvalidArgumentError('Expected a number from 1 to 99999.');
}
