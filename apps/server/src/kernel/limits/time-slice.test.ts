import { expect, it } from 'vitest';
import { mapInSlices, TimeSlice } from './time-slice.ts';

/** Takes as long as a slice. */
function work(item: number): number {
  const until = performance.now() + 6;
  while (performance.now() < until);
  return item * 2;
}

it('those who share a slice have their turns in their order, and others have theirs in between', async () => {
  const slice = new TimeSlice();
  const done: (number | 'other')[] = [];
  work(0);
  const workers = [1, 2, 3, 4].map(async (no) => {
    while (slice.isOver) await slice.next();
    done.push(work(no) / 2);
    if (no < 4) setImmediate(() => done.push('other'));
  });
  await Promise.all(workers);
  expect(done).toEqual([1, 'other', 2, 'other', 3, 'other', 4]);
});

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
