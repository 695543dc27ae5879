import { expect, it } from 'vitest';

import { cronWords } from './cron-words.ts';

it.each([
  ['* * * * *', 'every minute'],
  ['*/15 * * * *', 'every 15 minutes'],
  ['0 * * * *', 'every hour'],
  ['5 * * * *', 'every hour at minute 5'],
  ['0 */6 * * *', 'every 6 hours'],
  ['0 2 * * *', 'every day at 02:00'],
  [' 30  8,12,20 * * * ', 'every day at 08:30, 12:30 and 20:30'],
  ['0 2 * * 1-5', 'every Monday to Friday at 02:00'],
  ['0 2 * * mon,THU,7', 'every Monday, Thursday and Sunday at 02:00'],
  ['0 * * * 1', 'every hour, every Monday'],
  ['0 2 1 * *', 'on day 1 of every month at 02:00'],
  ['15 9 24 12 *', 'every year on December 24 at 09:15'],
  ['@daily', 'every day at 00:00'],
])('%j is %s', (cron, words) => {
  expect(cronWords(cron)).toBe(words);
});

it.each(['', '0 2 * *', '0 2 * * * *', '0 2 1 * 1', '0-5 2 * * *', '0 25 * * *', '*/7 * * * *', '0 2 L * *'])(
  '%j has no words',
  (cron) => {
    expect(cronWords(cron)).toBeUndefined();
  },
);
