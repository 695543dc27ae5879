import { expect, it } from 'vitest';

import { startLimitMs } from './start-limit.ts';

it.each([
  [1, 10_000],
  [2, 11_500],
  [40, 55_000],
  [10_000, 55_000],
])('%i runs on one host have %i ms to begin', (runs, limitMs) => {
  expect(startLimitMs(runs, 10_000)).toBe(limitMs);
});
