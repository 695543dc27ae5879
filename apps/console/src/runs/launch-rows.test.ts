import type { Run } from '@phalanx/protocol';
import { expect, test } from 'vitest';

import { launchRows, launchWords, tellingRun } from './launch-rows.ts';

const run = (run_id: string, launch: string, outcome: Run['outcome'] = 'succeeded'): Run => ({
  ...{
    run_id,
    launch,
    name: null,
    outcome,
    automation_id: 'a',
    launch_id: null,
    device_id: 'd',
    status: 'completed',
  },
  ...{ error: null, commit: null, dirty: null, created_at: 1, started_at: 1, ended_at: 2 },
});

test('the runs of a launch are one row, which opens into them', () => {
  const runs = [run('4', 'c'), run('3', 'b'), run('2', 'b', 'failed'), run('1', 'a')];
  const idsOf = (open: string[]): string[] => launchRows(runs, new Set(open)).map(({ id }) => id);
  expect(idsOf([])).toEqual(['4', 'b', '1']);
  expect(idsOf(['b'])).toEqual(['4', 'b', '3', '2', '1']);
});

test('a launch is told by the run that needs a look', () => {
  expect(tellingRun([run('1', 'a'), run('2', 'a', 'failed')])?.run_id).toBe('2');
  expect(tellingRun([run('1', 'a', 'failed'), run('2', 'a', null)])?.run_id).toBe('2');
  expect(launchWords([run('1', 'a'), run('2', 'a', 'out_of_steps')])).toBe(
    '2 phones: 1 succeeded, 1 out of steps',
  );
});
