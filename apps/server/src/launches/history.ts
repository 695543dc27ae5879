import { setImmediate as nextTurn } from 'node:timers/promises';

import type { Clock } from '../clock.ts';
import type { LaunchStore } from './store.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** Small steps, with a turn of the event loop between them, so that requests come in between. */
const launchesPerStep = 50;

/** Deletes launches and runs that ended longer ago than the history is kept. */
export async function deleteOldLaunches(
  store: LaunchStore,
  { clock, historyDays }: HistoryLimits,
): Promise<void> {
  const limit = clock.now() - historyDays * dayMs;
  for (let old = await store.listEndedBefore(limit, launchesPerStep); old.length > 0;) {
    await store.delete(old);
    await nextTurn();
    old = await store.listEndedBefore(limit, launchesPerStep);
  }
}

interface HistoryLimits {
  clock: Clock;
  historyDays: number;
}
