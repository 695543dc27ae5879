import { expect, test } from 'vitest';

import { phonesThatFit } from './simulated-phones.ts';

const gigabyte = 1024 ** 3;

test.each([
  { wanted: 1000, free: 8 * gigabyte, fit: 1000 },
  { wanted: 1000, free: gigabyte, fit: 624 },
  { wanted: 60, free: gigabyte, fit: 60 },
  { wanted: 5, free: gigabyte / 4, fit: 0 },
])('of $wanted simulated phones $fit fit into $free free bytes', ({ wanted, free, fit }) => {
  expect(phonesThatFit(wanted, free)).toBe(fit);
});
