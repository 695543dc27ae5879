import { expect, it } from 'vitest';
import { Reloading } from './reloading.ts';

it('a reload does not undo a change that came while it read', async () => {
  const reloading = new Reloading();
  const taken: number[] = [];
  let reads = 0;
  await reloading.reload(
    async () => {
      reads += 1;
      if (reads < 3) reloading.noteChange();
      return reads;
    },
    (rows) => taken.push(rows),
  );
  expect(taken).toEqual([3]);
});
