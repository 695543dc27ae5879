import { expect, it } from 'vitest';
import { SerialQueue } from './serial-queue.ts';

it('runs one piece of work after the other, also after one that failed', async () => {
  const queue = new SerialQueue();
  const order: string[] = [];
  const first = Promise.withResolvers<void>();
  const results = [
    queue.run(async () => {
      await first.promise;
      order.push('first');
      throw new Error('broken');
    }),
    queue.run(async () => order.push('second')),
  ];
  await Promise.resolve();
  expect(order).toEqual([]);
  first.resolve();
  expect((await Promise.allSettled(results)).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  expect(order).toEqual(['first', 'second']);
});

it('is idle when all that was given has ended', async () => {
  const queue = new SerialQueue();
  const ended: number[] = [];
  for (const number of [1, 2, 3])
    void queue.run(async () => {
      await new Promise(setImmediate);
      ended.push(number);
    });
  await queue.whenIdle();
  expect(ended).toEqual([1, 2, 3]);
});
