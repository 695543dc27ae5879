import { InvalidArgumentError } from 'commander';

/** For options that may be given several times. */
export const repeated = (value: string, before: readonly string[]): string[] => [...before, value];

/** For `--limit`. */
export function parseLimit(text: string): number {
  const limit = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (limit >= 1) return limit;
  throw new InvalidArgumentError('Give a number from 1 to 99999.');
}
