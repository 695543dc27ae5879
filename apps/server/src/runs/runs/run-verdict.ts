import type { RetryReason } from '@phalanx/protocol';
import type { StoredRun } from './stored-run.ts';

/** Error codes of runs that failed through no fault of the code. */
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

export type Verdict = 'completed' | 'cancelled' | RetryReason;

/** Classifies an ended run: whether it succeeded, and otherwise why not. */
export function verdictOf({ status, outcome, error_code, started_at }: EndedRun): Verdict {
  if (status === 'lost') return 'lost';
  if (status === 'timed_out' || outcome === 'timed_out') return 'timeout';
  // A run that has not begun is stopped only by the service, when a phone does not answer.
  if (status === 'stopped') return started_at === null ? 'phone' : 'cancelled';
  if (status === 'failed') return error_code !== null && phoneFailures.has(error_code) ? 'phone' : 'error';
  return outcome === 'out_of_steps' ? 'out_of_steps' : 'completed';
}
