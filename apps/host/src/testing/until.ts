import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

const pollMs = 25;
/** Longer than anything takes on a machine that is busy with other things, shorter than what a test is given. */
export const untilLimitMs = 50_000;

/** Asks until the answer fits, and gives it. When it never does, it tells what it waited for and what it saw last. */
export async function until<T>(
  what: string,
  ask: () => T | Promise<T>,
  fits: (answer: T) => boolean = Boolean,
  limitMs = untilLimitMs,
): Promise<T> {
  const endsAt = performance.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (fits(answer)) return answer;
    if (performance.now() > endsAt) throw new Error(waitedFor(what, answer, limitMs));
    await sleep(pollMs);
  }
}

export function waitedFor(what: string, saw: unknown, limitMs = untilLimitMs): string {
  return `waited ${limitMs / 1000} s for ${what}; saw last: ${inspect(saw, { depth: 4 })}`;
}
