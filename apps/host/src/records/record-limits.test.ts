import { expect, it } from 'vitest';

import { Allowance } from './record-limits.ts';

function allowanceOf(rate: { atOnce: number; perMinute: number }) {
  let nowMs = 0;
  const allowance = new Allowance(rate, () => nowMs);
  return { allowance, passTime: (ms: number) => (nowMs += ms) };
}

it('lets its burst through at once, and then says how long the next has to wait', () => {
  const { allowance, passTime } = allowanceOf({ atOnce: 2, perMinute: 1 });
  allowance.take(1);
  allowance.take(1);
  expect(allowance.waitMs(1)).toBe(60_000);
  passTime(45_000);
  expect(allowance.waitMs(1)).toBe(15_000);
  passTime(15_000);
  expect(allowance.waitMs(1)).toBe(0);
});

it('never saves up more than its burst', () => {
  const { allowance, passTime } = allowanceOf({ atOnce: 2, perMinute: 1 });
  passTime(3_600_000);
  allowance.take(2);
  expect(allowance.waitMs(1)).toBe(60_000);
});

it('makes those who come later pay for what was larger than what was left', () => {
  const { allowance } = allowanceOf({ atOnce: 10, perMinute: 5 });
  allowance.take(15);
  expect(allowance.waitMs(1)).toBe(72_000);
});
