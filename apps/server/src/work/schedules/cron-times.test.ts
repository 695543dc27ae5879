import { expect, it } from 'vitest';
import { CronTimes } from './cron-times.ts';
import { UpcomingTimes } from './upcoming-times.ts';

const yearMs = 366 * 24 * 3600 * 1000;

it('times that hardly ever come are searched for 50 years, not for centuries', () => {
  const now = Date.now();
  const times = new CronTimes('0 0 29 2 +1', 'America/New_York').list(5, now);
  expect(times.length).toBeGreaterThan(0);
  for (const time of times) expect(time - now).toBeLessThan(51 * yearMs);
});

it('times that never come are refused with the years that were searched', () => {
  for (const cron of ['0 0 30 2 *', '0 0 1 1 +5#2', '0 0 1W 1 +7'])
    expect(() => new CronTimes(cron, 'UTC')).toThrow(/no such time in the next 50 years/);
});

it('the last time is never after the moment that is asked about', () => {
  const times = new CronTimes('0 * * * *', 'UTC');
  const hour = Date.UTC(2027, 0, 1, 12);
  const before = Date.UTC(2027, 0, 1, 11);
  expect([hour - 1000, hour - 1, hour, hour + 999].map((until) => times.last(until))).toEqual([
    before,
    before,
    hour,
    hour,
  ]);
});

it('the names of frequent expressions go on', () => {
  expect(new CronTimes('@daily', 'UTC').list(2, Date.UTC(2027, 0, 1, 12))).toEqual([
    Date.UTC(2027, 0, 2),
    Date.UTC(2027, 0, 3),
  ]);
});

it('the next times of schedules are computed once until the first has passed', () => {
  const upcoming = new UpcomingTimes();
  const schedule = { cron: '0 2 * * *', time_zone: 'UTC' };
  const first = upcoming.of(schedule, Date.UTC(2027, 0, 1));
  expect(upcoming.of({ ...schedule }, Date.UTC(2027, 0, 1, 1))).toBe(first);
  const later = upcoming.of(schedule, Date.UTC(2027, 0, 1, 2));
  expect(later).toEqual([2, 3, 4, 5, 6].map((day) => Date.UTC(2027, 0, day, 2)));
});

it('a zone that does not exist is refused in one sentence', () => {
  expect(() => new CronTimes('0 2 * * *', 'Europe/Nowhere')).toThrow(
    'The cron expression 0 2 * * * in Europe/Nowhere cannot be used: there is no time zone "Europe/Nowhere".',
  );
});
