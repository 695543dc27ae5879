import { setImmediate as nextTurn } from 'node:timers/promises';

interface MemoryInUse {
  /** Resident bytes that are needed: the room that the collector keeps for itself has been given back. */
  rss: number;
  heap: number;
  /** Resident bytes before anything was collected. */
  uncollectedRss: number;
}

/** Memory of this process. Needs `--expose-gc`. */
export async function memoryInUse(): Promise<MemoryInUse> {
  if (globalThis.gc === undefined) throw new Error('start this process with --expose-gc');
  const uncollectedRss = process.memoryUsage.rss();
  // Finalizers of the first collection let go of what the second can then take.
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    await nextTurn();
  }
  const { rss, heapUsed } = process.memoryUsage();
  return { rss, heap: heapUsed, uncollectedRss };
}
