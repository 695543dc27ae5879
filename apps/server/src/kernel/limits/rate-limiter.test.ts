import { expect, it } from 'vitest';
import { RateLimiter } from './rate-limiter.ts';

it('takes one unit at a time also where a unit takes longer than the burst', () => {
  const limiter = new RateLimiter({ perSecond: 0.2, burstSeconds: 2 });
  expect(limiter.waitMs('one')).toBe(0);
  expect(limiter.spend('one')).toBe(0);
  expect(limiter.spend('one')).toBeGreaterThan(4000);
  expect(limiter.spend('another')).toBe(0);
});
