import { expect, it } from 'vitest';
import { mapInSlices } from './time-slice.ts';

/** Takes as long as a slice. */
function work(item: number): number {
  const until = performance.now() + 6;
  while (performance.now() < until);
  return item * 2;
}

it('what is mapped in slices gives the event loop to others between two items that take long', async () => {
  let [others, isOver] = [0, false];
  const turn = (): void => {
    others += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  expect(await mapInSlices([1, 2, 3, 4, 5, 6, 7, 8], work)).toEqual([2, 4, 6, 8, 10, 12, 14, 16]);
  isOver = true;
  expect(others).toBeGreaterThanOrEqual(7);
});
