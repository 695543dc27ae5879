import { describe, expect, it } from 'vitest';
import { createCallQueue } from './call-queue.ts';

describe('the calls of a phone', () => {
  it('runs one task at a time in the order they came, also after a failure', async () => {
    const queue = createCallQueue();
    const { signal } = new AbortController();
    const events: string[] = [];
    const task = (name: string) => async () => {
      events.push(`${name} begins`);
      await Promise.resolve();
      events.push(`${name} ends`);
      if (name === 'a') throw new Error('a failed');
      return name;
    };
    const results = await Promise.allSettled(['a', 'b', 'c'].map((name) => queue.run(task(name), signal)));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(events).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });

  it('never starts a task that was cancelled while it waited', async () => {
    const queue = createCallQueue();
    const gate = Promise.withResolvers<void>();
    const cancelled = new AbortController();
    const first = queue.run(() => gate.promise, new AbortController().signal);
    let started = false;
    const second = queue.run(async () => void (started = true), cancelled.signal);
    cancelled.abort(new Error('cancelled'));
    gate.resolve();
    await first;
    await expect(second).rejects.toThrow('cancelled');
    expect(started).toBe(false);
  });
});
