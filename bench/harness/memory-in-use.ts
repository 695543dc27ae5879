import { setImmediate as nextTurn } from 'node:timers/promises';

/** Resident bytes of this process after a collection. Needs `--expose-gc`. */
export async function memoryInUse(): Promise<{ rss: number; heap: number }> {
  if (globalThis.gc === undefined) throw new Error('start this process with --expose-gc');
  // Finalizers of the first collection let go of what the second can then take.
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc();
    await nextTurn();
  }
  const { rss, heapUsed } = process.memoryUsage();
  return { rss, heap: heapUsed };
}
