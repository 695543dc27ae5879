import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { RunStatus } from '@phalanx/protocol';

import { until } from './until.ts';

/** Resolves when the host's journal says so of the run. */
export async function untilJournaled(dataDir: string, runId: string, status: RunStatus): Promise<void> {
  const file = join(dataDir, 'host', 'runs', `${runId}.json`);
  await until(
    `the run as ${status} in ${file}`,
    () => readFile(file, 'utf8').catch(() => 'no file'),
    (text) => text.includes(`"status":"${status}"`),
  );
}
