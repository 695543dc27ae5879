import { setImmediate as nextTurn } from 'node:timers/promises';

interface MemoryInUse {
  /** Resident bytes in use, without free pages of the heap. */
  rss: number;
  heap: number;
  /** Resident bytes before garbage collection. */
  uncollectedRss: number;
}

/** Measures the memory of this process. Requires `--expose-gc`. */
export async function memoryInUse(): Promise<MemoryInUse> {
  if (globalThis.gc === undefined) throw new Error('start this process with --expose-gc');
  const uncollectedRss = process.memoryUsage.rss();
  // Finalizers of the first collection release memory for the second one.
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    await nextTurn();
  }
  const { rss, heapUsed } = process.memoryUsage();
  return { rss, heap: heapUsed, uncollectedRss };
}
