import { once } from 'node:events';
import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { RunStatus } from '@phalanx/protocol';

/** Resolves when the host's journal says so of the run. */
export async function untilJournaled(dataDir: string, runId: string, status: RunStatus): Promise<void> {
  const folder = join(dataDir, 'host', 'runs');
  const watcher = watch(folder);
  const isSo = async () => {
    const text = await readFile(join(folder, `${runId}.json`), 'utf8').catch(() => '');
    return text.includes(`"status":"${status}"`);
  };
  try {
    // Listening begins before reading, so that no change falls between the two.
    for (let changed = once(watcher, 'change'); !(await isSo()); changed = once(watcher, 'change'))
      await changed;
  } finally {
    watcher.close();
  }
}
