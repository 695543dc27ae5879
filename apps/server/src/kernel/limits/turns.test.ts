import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';

import { ApiError } from '../errors/api-error.ts';
import { Turns, type TurnsOptions } from './turns.ts';

const turnsOf = (options: Partial<TurnsOptions> = {}): Turns =>
  new Turns({
    places: 1,
    placesPerUser: 1,
    timeoutMs: 60_000,
    maxWaiting: 100,
    tooMany: () => ApiError.of('too_many_waiting', { limit: 1, work: 'it', seconds: 1 }),
    tooLong: () => ApiError.of('too_busy', { work: 'it', seconds: 1 }),
    ...options,
  });

it('a free place goes to the user whose last turn ended first, however many of another wait', async () => {
  const turns = turnsOf();
  const order: string[] = [];
  const work = (user: string): Promise<void> =>
    turns.run(user, async () => {
      await pause(1);
      order.push(user);
    });
  await Promise.all(['greedy', 'greedy', 'greedy', 'modest', 'another', 'modest'].map(work));
  expect(order).toEqual(['greedy', 'modest', 'another', 'greedy', 'modest', 'greedy']);
});

it('a user who holds the maximum is passed over, and has the next place of their own', async () => {
  const turns = turnsOf({ places: 2, placesPerUser: 1 });
  const releases = [await turns.take('greedy'), await turns.take('modest')];
  const order: string[] = [];
  const waiting = ['greedy', 'another'].map(async (user) => {
    const release = await turns.take(user);
    order.push(user);
    return release;
  });
  // The place of `modest` is for `another`: `greedy`, who waits in front, holds one.
  releases[1]?.();
  await pause(1);
  expect(order).toEqual(['another']);
  releases[0]?.();
  for (const release of await Promise.all(waiting)) release();
  expect(order).toEqual(['another', 'greedy']);
  expect([turns.waiting, turns.working]).toEqual([0, 0]);
});

it('one user never holds the last place', async () => {
  const turns = turnsOf({ places: 2, placesPerUser: 1 });
  const first = await turns.take('greedy');
  let isHeld = false;
  const second = turns.take('greedy').then((release) => {
    isHeld = true;
    return release;
  });
  const other = await turns.take('modest');
  expect(isHeld).toBe(false);
  first();
  (await second)();
  other();
  expect([turns.waiting, turns.working]).toEqual([0, 0]);
});

it('whoever has too much waiting is refused at once, and only they', async () => {
  const turns = turnsOf({ maxWaiting: 1 });
  const release = await turns.take('greedy');
  const waiting = turns.take('greedy');
  await expect(turns.take('greedy')).rejects.toMatchObject({ code: 'too_many_waiting' });
  const other = turns.take('modest');
  release();
  (await other)();
  (await waiting)();
});

it('whoever waits for too long is told to come again, and leaves no place taken', async () => {
  const turns = turnsOf({ timeoutMs: 10 });
  const release = await turns.take('slow');
  await expect(turns.take('late')).rejects.toMatchObject({ code: 'too_busy' });
  release();
  expect([turns.waiting, turns.working]).toEqual([0, 0]);
});

it('work that fails gives its place back', async () => {
  const turns = turnsOf();
  await expect(turns.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await turns.run('b', async () => undefined);
});
