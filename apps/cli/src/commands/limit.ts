import { InvalidArgumentError } from 'commander';

/** For `--limit`. */
export function parseLimit(text: string): number {
  const limit = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (limit >= 1) return limit;
  throw new InvalidArgumentError('Give a number from 1 to 99999.');
}
