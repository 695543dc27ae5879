import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { readdir } from 'node:fs/promises';

const pollMs = 25;
/** Timeout in milliseconds that a busy machine never reaches, but below that of a test. */
export const untilLimitMs = 50_000;

/** Polls until the answer fits, and returns it. On a timeout, the error names the wait and the last answer. */
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

/** Resolves when an existing folder is empty. */
export async function untilEmpty(folder: string): Promise<void> {
  await until(
    `nothing in ${folder}`,
    () => readdir(folder),
    (names) => names.length === 0,
  );
}

/** Resolves when an existing folder contains a file. */
export async function untilFull(folder: string): Promise<void> {
  await until(
    `something in ${folder}`,
    () => readdir(folder),
    (names) => names.length > 0,
  );
}
