import { notice } from '../../output/notice.ts';
import { printableLine } from '../../output/printable.ts';

export function printSkipped(skipped: readonly { path: string; reason: string }[]): void {
  for (const { path, reason } of skipped) notice(`Left out: ${printableLine(path)} (${reason})`);
}

/** `word` and a path on each line. */
export function printPaths(word: string, paths: readonly string[]): void {
  for (const path of paths) console.log(`${word.padEnd(8)}  ${printableLine(path)}`);
}

export const countOf = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
