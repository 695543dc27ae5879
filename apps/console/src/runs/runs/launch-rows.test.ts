import type { ListedRun } from '@phalanx/protocol';
import { expect, test } from 'vitest';

import { jobWords, launchRows, outcomeWords, phonesWords, tellingRun, launcherWords } from './launch-rows.ts';

const run = (run_id: string, launch: string, outcome: ListedRun['outcome'] = 'succeeded'): ListedRun => ({
  run_id,
  launch,
  name: null,
  outcome,
  automation_id: 'a',
  launch_id: null,
  device_id: 'd',
  status: 'completed',
  error: null,
  commit: null,
  dirty: null,
  created_at: 1,
  started_at: 1,
  ended_at: 2,
  launched_by: { user_id: 'u', user_name: 'ada', token_name: null, job: null },
});

test('the runs of a launch are one row, which opens into them', () => {
  const runs = [run('4', 'c'), run('3', 'b'), run('2', 'b', 'failed'), run('1', 'a')];
  const idsOf = (open: string[]): string[] => launchRows(runs, new Set(open)).map(({ id }) => id);
  expect(idsOf([])).toEqual(['4', 'b', '1']);
  expect(idsOf(['b'])).toEqual(['4', 'b', '3', '2', '1']);
});

test('the runs of a job are one row, however they were launched, of which older ones may come', () => {
  const job = { job_id: 'j', task_number: 1, schedule_id: null, schedule_name: null };
  const ofJob = (id: string): ListedRun => {
    const one = run(id, id);
    return { ...one, launched_by: { ...one.launched_by, job } };
  };
  const rows = launchRows([ofJob('4'), run('3', 'a'), ofJob('2'), run('1', 'b')], new Set(), true);
  expect(rows).toMatchObject([{ kind: 'launch', id: 'j', hasMore: true }, { id: '3' }, { id: '1' }]);
});

test('only the last launch may have runs that are not read yet', () => {
  const runs = [run('4', 'b'), run('3', 'b'), run('2', 'a'), run('1', 'a')];
  const moreOf = (hasMore: boolean) =>
    launchRows(runs, new Set(), hasMore).map((row) => row.kind === 'launch' && row.hasMore);
  expect([moreOf(true), moreOf(false)]).toEqual([
    [false, true],
    [false, false],
  ]);
});

test('a launch is told by the run that needs a look', () => {
  expect(tellingRun([run('1', 'a'), run('2', 'a', 'failed')])?.run_id).toBe('2');
  expect(tellingRun([run('1', 'a', 'failed'), run('2', 'a', null)])?.run_id).toBe('2');
  const both = [run('1', 'a'), { ...run('2', 'a', 'out_of_steps'), device_id: 'other' }];
  expect(outcomeWords(both)).toBe('1 succeeded, 1 out of steps');
  expect([phonesWords(both, false), phonesWords(both, true)]).toEqual(['2 phones', '2+ phones']);
  expect(phonesWords([run('1', 'a'), run('2', 'a')], false)).toBe('2 runs');
});

test('a run says by whom or what it was launched', () => {
  const ada = { user_id: 'u', user_name: 'ada', token_name: null, job: null };
  const job = { job_id: 'j', task_number: 1, schedule_id: null, schedule_name: null };
  const scheduled = { ...job, schedule_id: 's', schedule_name: 'Nightly' };
  expect(launcherWords(ada)).toBe('ada');
  expect(launcherWords({ ...ada, token_name: 'build' })).toBe('ada · build');
  expect(launcherWords({ ...ada, job })).toBe('Job');
  expect(launcherWords({ ...ada, job: scheduled })).toBe('Schedule “Nightly”');
  expect(launcherWords({ ...ada, job: { ...scheduled, schedule_name: null } })).toBe('Deleted schedule');
});

test('a job is told by all of its tasks', () => {
  const tasks = { waiting: 0, running: 3, completed: 977, failed: 20, cancelled: 0 };
  expect(jobWords({ tasks })).toBe('1,000 runs · 20 failed · 3 running');
});
