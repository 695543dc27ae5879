import { expect, it } from 'vitest';

import { createTokenBucket } from './token-bucket.ts';

it('lets a burst through, then holds to the rate, then has a burst again', () => {
  let now = 0;
  const take = createTokenBucket(10, 5, () => now);
  expect([1, 2, 3, 4, 5].map(() => take(1))).toEqual([0, 0, 0, 0, 0]);
  expect([take(1), take(1)]).toEqual([100, 200]);
  now = 200;
  expect(take(1)).toBe(100);
  now = 60_000;
  expect([take(5), take(1)]).toEqual([0, 100]);
});

it('holds one that takes more than the burst for as long as that is worth', () => {
  const take = createTokenBucket(10, 5, () => 0);
  expect(take(25)).toBe(2000);
});
