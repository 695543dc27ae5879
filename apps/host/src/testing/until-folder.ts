import { once } from 'node:events';
import { watch } from 'node:fs';
import { readdir } from 'node:fs/promises';

/** Resolves when nothing is left in a folder that exists. */
export function untilEmpty(folder: string): Promise<void> {
  return untilFolder(folder, (names) => names.length === 0);
}

/** Resolves when something finished is in a folder that exists. */
export function untilFull(folder: string): Promise<void> {
  return untilFolder(folder, (names) => names.some((name) => !name.endsWith('.tmp')));
}

async function untilFolder(folder: string, isSo: (names: string[]) => boolean): Promise<void> {
  const watcher = watch(folder);
  try {
    // Listening begins before reading, so that no change falls between the two.
    for (let changed = once(watcher, 'change'); ; changed = once(watcher, 'change')) {
      if (isSo(await readdir(folder))) return;
      await changed;
    }
  } finally {
    watcher.close();
  }
}
