import { expect, it } from 'vitest';

import { maxAttempts, pauseAfter, readRetryAfter } from './delivery-pauses.ts';
import { hourMs } from '@phalanx/timing/durations';

it('ten attempts are made within three days and some hours, each pause within a tenth of its length', () => {
  const pauses = (random: number) =>
    Array.from({ length: maxAttempts - 1 }, (_, at) => pauseAfter(at + 1, 0, random) ?? Number.NaN);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0) / hourMs;
  expect(maxAttempts).toBe(10);
  expect(sum(pauses(0.5))).toBeCloseTo(75.6, 1);
  expect(sum(pauses(0))).toBeCloseTo(0.9 * 75.6, 0);
  expect(sum(pauses(1))).toBeCloseTo(1.1 * 75.6, 0);
  expect(pauseAfter(maxAttempts)).toBeUndefined();
});

it('a receiver may ask for a longer pause, up to a day, and not for a shorter one', () => {
  expect(pauseAfter(1, hourMs, 0.5)).toBe(hourMs);
  expect(pauseAfter(1, 1000 * hourMs, 0.5)).toBe(24 * hourMs);
  expect(pauseAfter(4, 1, 0.5)).toBe(2 * hourMs);
});

it('Retry-After is seconds or a date; anything else asks for nothing', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  expect(readRetryAfter('120', now)).toBe(120_000);
  expect(readRetryAfter('Thu, 01 Jan 2026 00:01:00 GMT', now)).toBe(60_000);
  for (const text of [undefined, '', '-5', 'soon', '99999999999', 'Thu, 01 Jan 2015 00:01:00 GMT'])
    expect(readRetryAfter(text, now), text).toBe(0);
});
