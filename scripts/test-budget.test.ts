import { expect, it } from 'vitest';
import { findOverrun } from './test-budget.ts';

const tier = { command: 'npm test', projects: ['test'], budgetMinutes: 8 };
const time = { wallSeconds: 8 * 60 + 1, processorSeconds: 600, othersShare: 0 };

it('a tier within its budget is not told of', () => {
  expect(findOverrun({ ...time, wallSeconds: 480 }, tier, true)).toBeUndefined();
});

it.each([
  { machine: 'CI', isCi: true, othersShare: 0.1, fails: true },
  { machine: 'CI beside other programs', isCi: true, othersShare: 0.2, fails: false },
  { machine: 'the machine of a contributor', isCi: false, othersShare: 0, fails: false },
])('a tier over its budget is told of, and fails on $machine: $fails', ({ isCi, othersShare, fails }) => {
  const overrun = findOverrun({ ...time, othersShare }, tier, isCi);
  expect(overrun?.message).toContain('npm test took 8.0 min. Its budget is 8 min');
  expect(overrun?.fails).toBe(fails);
});
