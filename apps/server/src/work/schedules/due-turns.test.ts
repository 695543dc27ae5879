import { describe, expect, it } from 'vitest';
import { CronTimes } from './cron-times.ts';
import { findDue } from './due-turns.ts';

const utc = (text: string): number => Date.parse(`${text}Z`);
const textOf = (times: readonly number[]): string[] =>
  times.map((time) => new Date(time).toISOString().slice(0, 16));
const listed = (cron: string, zone: string, from: string, count: number): string[] =>
  textOf(new CronTimes(cron, zone).list(count, utc(from)));

/** Returns every turn between two times, like a service that never stops. */
async function played(cron: string, zone: string, from: string, to: string): Promise<string[]> {
  const times = new CronTimes(cron, zone);
  const fired: number[] = [];
  let planned = times.next(utc(from));
  for (let now = utc(from); now <= utc(to); now += 60_000) {
    if (planned === undefined || planned > now) continue;
    const due = await findDue(times, planned, 'none', now);
    if (due.fire !== undefined) fired.push(due.fire);
    planned = due.next;
  }
  return textOf(fired);
}

describe('the change of clocks', () => {
  it('in spring: a time that does not exist comes once, at the hour after', () => {
    expect(listed('30 2 * * *', 'Europe/Berlin', '2027-03-27T02:00', 3)).toEqual([
      '2027-03-28T01:00',
      '2027-03-29T00:30',
      '2027-03-30T00:30',
    ]);
    expect(listed('30 2 * * *', 'America/New_York', '2027-03-13T08:00', 2)).toEqual([
      '2027-03-14T07:00',
      '2027-03-15T06:30',
    ]);
  });

  it('in autumn: a time that exists twice comes once', async () => {
    expect(await played('30 2 * * *', 'Europe/Berlin', '2027-10-30T12:00', '2027-11-01T12:00')).toHaveLength(
      2,
    );
    expect(
      await played('30 1 * * *', 'America/New_York', '2027-11-06T12:00', '2027-11-08T12:00'),
    ).toHaveLength(2);
  });

  it('of an hourly schedule leaves one turn an hour, all year', async () => {
    for (const [zone, from, to] of [
      ['Europe/Berlin', '2027-03-27T22:30', '2027-03-28T10:30'],
      ['America/New_York', '2027-03-14T00:30', '2027-03-14T12:30'],
      ['Europe/Berlin', '2027-10-30T22:30', '2027-10-31T10:30'],
      ['America/New_York', '2027-11-07T00:30', '2027-11-07T12:30'],
    ] as const)
      expect(await played('0 * * * *', zone, from, to)).toHaveLength(12);
  });
});

describe('a stop of the service', () => {
  const times = new CronTimes('*/5 * * * *', 'Europe/Berlin');
  const planned = utc('2027-01-05T00:05');

  it('of a day skips what was missed, and tells how much', async () => {
    const now = utc('2027-01-06T00:03');
    expect(await findDue(times, planned, 'none', now)).toEqual({
      fire: utc('2027-01-06T00:00'),
      missed: { count: 287, first: planned },
      next: utc('2027-01-06T00:05'),
    });
  });

  it('longer than the grace fires only the last one, and only when it is wanted', async () => {
    const daily = new CronTimes('0 2 * * *', 'Europe/Berlin');
    const first = utc('2027-01-05T01:00');
    const now = utc('2027-01-08T00:00');
    expect(await findDue(daily, first, 'none', now)).toMatchObject({
      fire: undefined,
      missed: { count: 3, first },
    });
    expect(await findDue(daily, first, 'last', now)).toMatchObject({
      fire: utc('2027-01-07T01:00'),
      missed: { count: 2 },
      next: utc('2027-01-08T01:00'),
    });
  });

  it('of years is over in a moment', async () => {
    const due = await findDue(new CronTimes('* * * * *', 'UTC'), planned, 'last', utc('2037-01-06T00:03'));
    expect(due).toMatchObject({
      fire: utc('2037-01-06T00:03'),
      missed: { count: 299 },
      next: utc('2037-01-06T00:04'),
    });
  });
});

it('a clock that jumps has no turn twice, and those that it leaves out are told of', async () => {
  const times = new CronTimes('0 * * * *', 'UTC');
  const [fired, missed]: [number[], number[]] = [[], []];
  let planned = utc('2027-01-05T01:00');
  // The clock goes back by two hours, then forward by five.
  for (const at of ['01:00', '01:30', '23:30', '01:10', '02:00', '03:00', '08:05', '09:00']) {
    const now = utc(`2027-01-0${at === '23:30' ? 4 : 5}T${at}`);
    if (planned > now) continue;
    const due = await findDue(times, planned, 'none', now);
    if (due.fire !== undefined) fired.push(due.fire);
    if (due.missed !== undefined) missed.push(due.missed.count);
    planned = due.next ?? Infinity;
  }
  expect(textOf(fired)).toEqual(['01', '02', '03', '08', '09'].map((hour) => `2027-01-05T${hour}:00`));
  expect(missed).toEqual([4]);
});

it.each([
  ['0 2 * *', 'Europe/Berlin'],
  ['* * * * * *', 'Europe/Berlin'],
  ['61 * * * *', 'Europe/Berlin'],
  ['0 2 * * *', 'Europe/Nowhere'],
  ['0 2 30 2 *', 'UTC'],
])('%s in %s is refused', (cron, zone) => {
  expect(() => new CronTimes(cron, zone)).toThrow(/cannot be used/);
});
