import { setImmediate as nextTurn } from 'node:timers/promises';

import type { Clock } from '../clock.ts';
import type { LaunchStore } from './store.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** Small steps, with a turn of the event loop between them, so that requests come in between. */
const launchesPerStep = 200;

/** Deletes launches and runs that ended longer ago than the history is kept. */
export async function deleteOldLaunches(
  store: LaunchStore,
  clock: Clock,
  historyDays: number,
): Promise<void> {
  const limit = clock.now() - historyDays * dayMs;
  while ((await store.deleteEndedBefore(limit, launchesPerStep)) === launchesPerStep) await nextTurn();
}
