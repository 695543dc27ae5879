import { expect, it } from 'vitest';
import { Cached } from './cached.ts';

interface Row {
  readonly owner: string;
}

it.each([
  ['the key was forgotten', (cache: Cached<Row>) => cache.forget('key')],
  ['all keys were forgotten', (cache: Cached<Row>) => cache.forgetAll()],
])('a value that was read while %s is returned and not kept', async (_, change) => {
  const cache = new Cached<Row>(10);
  const read = Promise.withResolvers<Row>();
  const value = cache.get('key', () => read.promise);
  change(cache);
  read.resolve({ owner: 'before' });
  expect(await value).toEqual({ owner: 'before' });
  expect(cache.find('key')).toBeUndefined();
  expect(await cache.get('key', async () => ({ owner: 'after' }))).toEqual({ owner: 'after' });
  expect(await cache.get('key', () => Promise.reject(new Error('read again')))).toEqual({ owner: 'after' });
});
