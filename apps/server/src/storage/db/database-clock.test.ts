import { expect, test } from 'vitest';
import { DatabaseClock } from './database-clock.ts';

const aheadOfSystem = (clock: DatabaseClock): number => clock.now() - Date.now();

test('the time of the database is followed, and never goes back', () => {
  const clock = new DatabaseClock();
  const now = Date.now();
  clock.adjust(now + 60_000, now, now);
  expect(Math.round(aheadOfSystem(clock) / 1000)).toBe(60);
  const before = clock.now();
  clock.adjust(now + 30_000, now, now);
  expect(clock.now()).toBeGreaterThanOrEqual(before);
});

// A 6 s lease from such a server had already expired for all other servers.
test('an answer that took long, because the server or the database stood still, does not move the time', () => {
  const clock = new DatabaseClock();
  const now = Date.now();
  clock.adjust(now, now - 2, now);
  clock.adjust(now, now, now + 12_000);
  expect(Math.round(aheadOfSystem(clock) / 1000)).toBe(0);
  clock.adjust(now + 12_000, now, now + 12_000);
  expect(Math.round(aheadOfSystem(clock) / 1000)).toBe(0);
  clock.adjust(now + 25_000, now + 15_000, now + 15_003);
  expect(Math.round(aheadOfSystem(clock) / 1000)).toBe(10);
});
