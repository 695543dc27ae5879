import { expect, it } from 'vitest';
import { SerialQueues } from './serial-queues.ts';

it('runs the work of one key in its order, beside that of other keys', async () => {
  const queues = new SerialQueues();
  const order: string[] = [];
  const first = Promise.withResolvers<void>();
  const slow = queues.run('slow', async () => {
    await first.promise;
    order.push('slow 1');
    throw new Error('broken');
  });
  const next = queues.run('slow', async () => order.push('slow 2'));
  await queues.run('quick', async () => order.push('quick'));
  first.resolve();
  await expect(slow).rejects.toThrow('broken');
  await next;
  expect(order).toEqual(['quick', 'slow 1', 'slow 2']);
});

it('keeps no queue without work', async () => {
  const queues = new SerialQueues();
  const works = [1, 2].map(() => queues.run('key', async () => undefined));
  expect(queues.size).toBe(1);
  await Promise.all(works);
  expect(queues.size).toBe(0);
});
