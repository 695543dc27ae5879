import { expect, it } from 'vitest';

import { RateLimiter } from './record-limits.ts';

function allowanceOf(rate: { atOnce: number; perMinute: number }) {
  let nowMs = 0;
  const limiter = new RateLimiter(rate, () => nowMs);
  return { limiter, passTime: (ms: number) => (nowMs += ms) };
}

it('lets its burst through at once, and then says how long the next has to wait', () => {
  const { limiter, passTime } = allowanceOf({ atOnce: 2, perMinute: 1 });
  limiter.take(1);
  limiter.take(1);
  expect(limiter.waitMs(1)).toBe(60_000);
  passTime(45_000);
  expect(limiter.waitMs(1)).toBe(15_000);
  passTime(15_000);
  expect(limiter.waitMs(1)).toBe(0);
});

it('never saves up more than its burst', () => {
  const { limiter, passTime } = allowanceOf({ atOnce: 2, perMinute: 1 });
  passTime(3_600_000);
  limiter.take(2);
  expect(limiter.waitMs(1)).toBe(60_000);
});

it('makes those who come later pay for what was larger than what was left', () => {
  const { limiter } = allowanceOf({ atOnce: 10, perMinute: 5 });
  limiter.take(15);
  expect(limiter.waitMs(1)).toBe(72_000);
});
