import { maxSecretsOfProject } from '@phalanx/protocol';
import { expect, it } from 'vitest';

import { turnsOfOthers } from '../../kernel/limits/testing/turns-of-others.ts';
import { TimeSlice } from '../../kernel/limits/time-slice.ts';
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
  const entries = Array.from({ length: maxSecretsOfProject }, (_, no) => [
    `S${no}`,
    `${'a'.repeat(8000)}"${no}`,
  ]);
  const values = Object.fromEntries(entries);
  const matchers = new ProjectMatchers();
  expect(await turnsOfOthers(() => matchers.of('one', values))).toBeGreaterThan(1);
  const matcher = await matchers.of('one', values);
  const look = async (): Promise<void> => {
    expect(await new TimeSlice().run(matcher.lookingIn('a'.repeat(4_000_000)))).toBe(false);
  };
  expect(await turnsOfOthers(look)).toBeGreaterThan(1);
});
