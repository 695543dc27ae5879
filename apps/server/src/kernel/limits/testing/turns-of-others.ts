import { setImmediate as nextTurn } from 'node:timers/promises';
import { onTestFinished, vi } from 'vitest';

/**
 * Counts the turns of the event loop that others have while `work` goes on. Each look at the clock finds it a
 * millisecond later: slices of time end after as many looks on every machine.
 */
export async function turnsOfOthers(work: () => Promise<unknown>): Promise<number> {
  let now = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 1));
  onTestFinished(() => clock.mockRestore());
  const others = { turns: 0, areDone: false };
  const counting = (async () => {
    for (; !others.areDone; others.turns += 1) await nextTurn();
  })();
  await work();
  others.areDone = true;
  await counting;
  clock.mockRestore();
  // One may come after all of it.
  return others.turns - 1;
}
