import { expect, it } from 'vitest';

import { SilenceWatch } from './silence-watch.ts';

interface Engine {
  answers: boolean;
  ended: number;
}

const watchOf = (engine: Engine): SilenceWatch =>
  new SilenceWatch({
    ping: () => (engine.answers ? Promise.resolve() : new Promise(() => undefined)),
    onSilence: () => (engine.ended += 1),
    silenceError: () => new Error('silent'),
  });

const never = (): Promise<never> => new Promise(() => undefined);

it('leaves work alone that takes long at an engine that answers', async () => {
  const engine = { answers: true, ended: 0 };
  const watch = watchOf(engine);
  const { promise: work, resolve } = Promise.withResolvers<string>();
  setTimeout(() => resolve('done'), 900);
  expect(await watch.guard(() => work)).toBe('done');
  expect(engine.ended).toBe(0);
});

it('gives up what waits for an engine that is silent, and refuses more until it answers', async () => {
  const engine = { answers: false, ended: 0 };
  const watch = watchOf(engine);
  await expect(Promise.any([watch.guard(never), watch.guard(never)])).rejects.toThrow();
  expect(engine.ended).toBe(1);
  await expect(watch.guard(async () => 'done')).rejects.toThrow('silent');
  engine.answers = true;
  await expect.poll(() => watch.guard(async () => 'done').catch(String), { timeout: 10_000 }).toBe('done');
});

it('hands back a result that comes too late', async () => {
  const watch = watchOf({ answers: false, ended: 0 });
  const { promise: late, resolve } = Promise.withResolvers<string>();
  const { promise: undone, resolve: undo } = Promise.withResolvers<string>();
  await expect(watch.guard(() => late, undo)).rejects.toThrow('silent');
  resolve('late');
  expect(await undone).toBe('late');
});
