import { expect, it } from 'vitest';

import { pauseAfter } from './retry-rule.ts';

it('pauses grow to ten minutes and differ by a quarter each way', () => {
  const least = [1, 2, 3, 4, 5, 6, 20].map((attempts) => pauseAfter(attempts, 0));
  expect(least).toEqual([1500, 6000, 24_000, 96_000, 384_000, 450_000, 450_000]);
  expect(pauseAfter(1, 1)).toBe(2500);
});
