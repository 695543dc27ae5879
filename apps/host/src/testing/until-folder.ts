import { readdir } from 'node:fs/promises';

import { until } from './until.ts';

/** Resolves when nothing is left in a folder that exists. */
export async function untilEmpty(folder: string): Promise<void> {
  await until(
    `nothing in ${folder}`,
    () => readdir(folder),
    (names) => names.length === 0,
  );
}

/** Resolves when something finished is in a folder that exists. */
export async function untilFull(folder: string): Promise<void> {
  await until(`something in ${folder}`, () => readdir(folder), isFull);
}

const isFull = (names: string[]): boolean => names.some((name) => !name.endsWith('.tmp'));
