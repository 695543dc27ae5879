import { expect, it } from 'vitest';

import { CommitFlush } from './commit-flush.ts';

/** Disk that flushes on demand. */
class SlowDisk {
  readonly flushes: PromiseWithResolvers<void>[] = [];

  readonly sync = (): Promise<void> => {
    const flush = Promise.withResolvers<void>();
    this.flushes.push(flush);
    return flush.promise;
  };
}

const settled = (): Promise<void> => new Promise(setImmediate);

it('is shared by commits of one moment; what is committed during a flush waits for the next one', async () => {
  const disk = new SlowDisk();
  const flush = new CommitFlush(disk.sync);
  const stored: string[] = [];
  const commit = (name: string): void => void flush.flush().then(() => stored.push(name));
  commit('one');
  commit('two');
  await settled();
  commit('three');
  commit('four');
  await settled();
  expect(disk.flushes).toHaveLength(1);
  disk.flushes[0]?.resolve();
  await settled();
  expect(stored).toEqual(['one', 'two']);
  expect(disk.flushes).toHaveLength(2);
  disk.flushes[1]?.resolve();
  await settled();
  expect(stored).toEqual(['one', 'two', 'three', 'four']);
});

it('that fails is told to those who shared it, and to nobody else', async () => {
  const disk = new SlowDisk();
  const flush = new CommitFlush(disk.sync);
  const first = flush.flush();
  await settled();
  const second = flush.flush();
  disk.flushes[0]?.reject(new Error('the disk reports errors'));
  await expect(first).rejects.toThrow('the disk reports errors');
  await settled();
  disk.flushes[1]?.resolve();
  await second;
});
