import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';

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

it('who has had least gets the next turn, however many of another wait', async () => {
  const turns = turnsOf();
  const order: string[] = [];
  const work = (user: string, ms: number): Promise<void> =>
    turns.run(user, async () => {
      await pause(ms);
      order.push(user);
    });
  await Promise.all([work('greedy', 20), work('greedy', 20), work('greedy', 20), work('modest', 1)]);
  expect(order).toEqual(['greedy', 'modest', 'greedy', 'greedy']);
});

it('greedy is who has had much while others were there too', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const turns = turnsOf({ places: 2 });
    const work = async (user: string, ms: number): Promise<void> => {
      const release = await turns.take(user);
      vi.advanceTimersByTime(ms);
      release();
    };
    await work('greedy', 12_000);
    expect(turns.isOverShare('greedy')).toBe(false);
    await work('modest', 100);
    expect([turns.isOverShare('greedy'), turns.isOverShare('modest')]).toEqual([true, false]);
    vi.advanceTimersByTime(60_000);
    expect(turns.isOverShare('greedy')).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});

it('greedy is nobody who has had less than the others, however long it took', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const turns = turnsOf({ places: 3, placesPerUser: 2 });
    const held = [await turns.take('greedy'), await turns.take('greedy')];
    vi.advanceTimersByTime(11_000);
    const victim = await turns.take('modest');
    vi.advanceTimersByTime(11_000);
    // Work in progress counts: nobody has ended anything yet.
    expect([turns.isOverShare('greedy'), turns.isOverShare('modest')]).toEqual([true, false]);
    for (const release of [...held, victim]) release();
    expect([turns.isOverShare('greedy'), turns.isOverShare('modest')]).toEqual([true, false]);
  } finally {
    vi.useRealTimers();
  }
});

it('the last place is for who has nothing in progress and is not over the share', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const turns = turnsOf({ places: 3, placesPerUser: 3 });
    const held = [await turns.take('greedy'), await turns.take('greedy')];
    const third = turns.take('greedy');
    expect([turns.waiting, turns.working]).toEqual([1, 2]);
    const modest = await turns.take('modest');
    vi.advanceTimersByTime(20_000);
    modest();
    expect(turns.waiting).toBe(1);
    for (const release of held) release();
    (await third)();
    expect([turns.waiting, turns.working]).toEqual([0, 0]);
  } finally {
    vi.useRealTimers();
  }
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
