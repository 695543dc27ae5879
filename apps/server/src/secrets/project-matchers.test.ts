import { setImmediate as nextTurn } from 'node:timers/promises';
import { maxSecretsOfProject } from '@phalanx/protocol';
import { expect, it } from 'vitest';

import { TimeSlice } from '../limits/time-slice.ts';
import { ProjectMatchers } from './project-matchers.ts';

it('is built once for the secrets of a project, and anew when they have changed', async () => {
  const matchers = new ProjectMatchers();
  const first = await matchers.of('one', { A: 'hunter2' });
  expect(await matchers.of('one', { A: 'hunter2' })).toBe(first);
  expect(await matchers.of('two', { A: 'hunter2' })).not.toBe(first);
  const changed = await matchers.of('one', { A: 'hunter3' });
  expect(changed).not.toBe(first);
  expect(await new TimeSlice().run(changed.lookingIn('has hunter3'))).toBe(true);
  expect(await new TimeSlice().run(changed.lookingIn('has hunter2'))).toBe(false);
  expect((await matchers.of('none', {})).isEmpty).toBe(true);
});

it('others have turns while the values of a project are made ready, and while a text is looked through', async () => {
  const others = { turns: 0, areDone: false };
  const waiting = (async () => {
    for (; !others.areDone; others.turns += 1) await nextTurn();
  })();
  const entries = Array.from({ length: maxSecretsOfProject }, (_, no) => [
    `S${no}`,
    `${'a'.repeat(8000)}"${no}`,
  ]);
  const matcher = await new ProjectMatchers().of('one', Object.fromEntries(entries));
  expect(others.turns).toBeGreaterThan(1);
  others.turns = 0;
  expect(await new TimeSlice().run(matcher.lookingIn('a'.repeat(4_000_000)))).toBe(false);
  expect(others.turns).toBeGreaterThan(1);
  others.areDone = true;
  await waiting;
});
