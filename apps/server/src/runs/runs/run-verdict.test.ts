import { expect, it } from 'vitest';

import { verdictOf } from './run-verdict.ts';

const run = { status: 'completed', outcome: null, error_code: null, started_at: 1 } as const;

it.each([
  ['a success', {}, 'completed'],
  ['an uncaught error', { status: 'failed', error_code: 'uncaught_error' }, 'error'],
  ['a phone that is gone', { status: 'failed', error_code: 'phone_lost' }, 'phone'],
  ['a host that was restarted', { status: 'failed', error_code: 'host_restarted' }, 'phone'],
  [
    'a host too busy to load the code',
    { status: 'failed', error_code: 'start_timed_out', started_at: null },
    'phone',
  ],
  [
    'a host whose disk is full',
    { status: 'failed', error_code: 'host_storage_failed', started_at: null },
    'phone',
  ],
  ['a host that was stopped', { status: 'failed', error_code: 'host_stopped' }, 'phone'],
  ['a host that did not come back', { status: 'lost', error_code: 'lost' }, 'lost'],
  ['a stop by a person', { status: 'stopped' }, 'cancelled'],
  ['a start that no phone confirmed', { status: 'stopped', started_at: null }, 'phone'],
  ['a time limit', { status: 'timed_out' }, 'timeout'],
  ['an unknown screen', { outcome: 'out_of_steps' }, 'out_of_steps'],
] as const)('%s is judged', (_name, more, verdict) => {
  expect(verdictOf({ ...run, ...more })).toBe(verdict);
});
