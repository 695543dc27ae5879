import { expect, it } from 'vitest';

import { TokenBucket } from './token-bucket.ts';

it('lets a burst through, then holds to the rate, then has a burst again', () => {
  let now = 0;
  const bucket = new TokenBucket(10, 5, () => now);
  const take = (count: number): number => bucket.take(count);
  expect([1, 2, 3, 4, 5].map(() => take(1))).toEqual([0, 0, 0, 0, 0]);
  expect([take(1), take(1)]).toEqual([100, 200]);
  now = 200;
  expect(take(1)).toBe(100);
  now = 60_000;
  expect([take(5), take(1)]).toEqual([0, 100]);
});

it('holds one that takes more than the burst for as long as that is worth', () => {
  const bucket = new TokenBucket(10, 5, () => 0);
  expect(bucket.take(25)).toBe(2000);
});

function minuteBucket(rate: { atOnce: number; perMinute: number }) {
  let nowMs = 0;
  const bucket = new TokenBucket(rate.perMinute / 60, rate.atOnce, () => nowMs);
  return { bucket, passTime: (ms: number) => (nowMs += ms) };
}

it('lets its burst through at once, and then says how long the next has to wait', () => {
  const { bucket, passTime } = minuteBucket({ atOnce: 2, perMinute: 1 });
  bucket.take(1);
  bucket.take(1);
  expect(bucket.waitMs(1)).toBe(60_000);
  passTime(45_000);
  expect(bucket.waitMs(1)).toBe(15_000);
  passTime(15_000);
  expect(bucket.waitMs(1)).toBe(0);
});

it('never saves up more than its burst', () => {
  const { bucket, passTime } = minuteBucket({ atOnce: 2, perMinute: 1 });
  passTime(3_600_000);
  bucket.take(2);
  expect(bucket.waitMs(1)).toBe(60_000);
});

it('makes those who come later pay for what was larger than what was left', () => {
  const { bucket } = minuteBucket({ atOnce: 10, perMinute: 5 });
  bucket.take(15);
  expect(bucket.waitMs(1)).toBe(72_000);
});
