import { Retries, type RetryReason } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

import type { StoredRun } from '../runs/stored-run.ts';

const retries = Compile(Retries);
export const readRetries = (json: string): Retries => retries.Parse(JSON.parse(json));

/** Codes of runs that failed without the code's doing. */
const phoneFailures: ReadonlySet<string> = new Set([
  'device_unavailable',
  'phone_lost',
  'setting_unsupported',
  'setting_refused',
  'host_restarted',
  'host_stopped',
  'host_failed',
  'host_storage_failed',
  'not_started',
  'start_timed_out',
]);

type EndedRun = Pick<StoredRun, 'status' | 'outcome' | 'error_code' | 'started_at'>;

/** What a run that has ended means for its task. */
export type Verdict = 'completed' | 'cancelled' | RetryReason;

export function verdictOf({ status, outcome, error_code, started_at }: EndedRun): Verdict {
  if (status === 'lost') return 'lost';
  if (status === 'timed_out' || outcome === 'timed_out') return 'timeout';
  // Nobody stops what has not begun, but the service, when a phone does not answer.
  if (status === 'stopped') return started_at === null ? 'phone' : 'cancelled';
  if (status === 'failed') return error_code !== null && phoneFailures.has(error_code) ? 'phone' : 'error';
  return outcome === 'out_of_steps' ? 'out_of_steps' : 'completed';
}

const firstPauseMs = 2000;
const factor = 4;
const longestPauseMs = 10 * 60_000;

/** How long a task waits after so many attempts, spread so that those of one failure do not come back together. */
export const pauseAfter = (attempts: number, random: () => number = Math.random): number =>
  Math.round(Math.min(longestPauseMs, firstPauseMs * factor ** (attempts - 1)) * (0.75 + random() / 2));
