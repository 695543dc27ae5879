import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';

import { Limits } from '../../../kernel/limits/limits.ts';
import { parseLimits } from '../../../kernel/limits/limit-settings.ts';
import { ListReplies } from './list-replies.ts';
import type { Principal } from '../principal.ts';

const principalOf = (userId: string): Principal => ({
  userId,
  userName: userId,
  role: 'user',
  tokenId: `token of ${userId}`,
  tokenName: '',
  scopes: new Set(),
  projectIds: null,
  phones: null,
  budget: null,
  expiresAt: null,
});
const [greedy, modest] = [principalOf('greedy'), principalOf('modest')];
const openLists = (env = {}): ListReplies => new ListReplies(new Limits(parseLimits(env)).turns.lists);

test('requests for one page that come together share one reading', async () => {
  const lists = openLists();
  let encoded = 0;
  const read = (url: string) => lists.read(greedy, url, async () => `page ${(encoded += 1)}`);
  const pages = await Promise.all(Array.from({ length: 100 }, () => read('/devices')));
  expect(new Set(pages.map(({ body }) => body.toString()))).toEqual(new Set(['page 1']));
  expect(new Set(pages).size).toBe(1);
  // A later request has to see what has changed since.
  expect((await read('/devices')).body.toString()).toBe('page 2');
});

test('who shares a reading goes on a few at a time, and others have their turns in between', async () => {
  const lists = openLists();
  const encoded = Promise.withResolvers<string>();
  const seen = { turns: 0, answered: 0 };
  const counts: number[] = [];
  const shared = Array.from({ length: 100 }, async () => {
    await lists.read(greedy, '/devices', () => encoded.promise);
    seen.answered += 1;
  });
  encoded.resolve('page');
  for (; seen.answered < 100; seen.turns += 1) {
    const before = seen.answered;
    await nextTurn();
    counts.push(seen.answered - before);
  }
  await Promise.all(shared);
  expect(seen.turns).toBeGreaterThanOrEqual(25);
  expect(Math.max(...counts)).toBeLessThanOrEqual(8);
});

test('a request that comes after a reading has begun does not share it', async () => {
  const lists = openLists();
  const first = Promise.withResolvers<string>();
  const begun = Promise.withResolvers<void>();
  const before = lists.read(greedy, '/devices', () => {
    begun.resolve();
    return first.promise;
  });
  await begun.promise;
  const after = lists.read(greedy, '/devices', async () => 'after the change');
  first.resolve('before the change');
  expect((await before).body.toString()).toBe('before the change');
  expect((await after).body.toString()).toBe('after the change');
});

test('pages of a user wait for each other, and not those of others; only the user is refused', async () => {
  const lists = openLists({ PHALANX_MAX_WAITING: '1' });
  const hanging = Promise.withResolvers<string>();
  let begun = 0;
  const hang = (url: string) =>
    lists.read(greedy, url, () => {
      begun += 1;
      return hanging.promise;
    });
  const held = [hang('/1'), hang('/2'), hang('/3')];
  await expect(hang('/4')).rejects.toMatchObject({ code: 'too_many_waiting' });
  expect((await lists.read(modest, '/1', async () => 'mine')).body.toString()).toBe('mine');
  expect(begun).toBe(2);
  hanging.resolve('theirs');
  await Promise.all(held);
  expect(begun).toBe(3);
});

test('a reading that fails is not kept', async () => {
  const lists = openLists();
  await expect(lists.read(greedy, '/', () => Promise.reject(new Error('no disk')))).rejects.toThrow(
    'no disk',
  );
  expect((await lists.read(greedy, '/', async () => 'again')).body.toString()).toBe('again');
});
