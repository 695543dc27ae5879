import type { Run, RunLauncher } from '@phalanx/protocol';

import { formatDuration } from './duration.ts';

const words: Readonly<Record<Run['status'], string>> = {
  starting: 'is starting',
  running: 'is running',
  completed: 'completed',
  failed: 'failed',
  stopped: 'was stopped',
  timed_out: 'timed out',
  lost: 'was lost',
};

/** Such as `failed after 3.2 s (uncaught_error: no luck)`; the message's first line, for the log has the stack. */
export function describeEnd({
  status,
  outcome,
  error,
  started_at: startedAt,
  ended_at: endedAt,
}: Run): string {
  const duration =
    startedAt === null || endedAt === null ? '' : ` after ${formatDuration(endedAt - startedAt)}`;
  const reason = error === null ? '' : ` (${error.code}: ${error.message.split('\n', 1)[0] ?? ''})`;
  return `${words[status]}${duration}${outOfStepsNote(status, outcome)}${reason}`;
}

const outOfStepsNote = (status: Run['status'], outcome: Run['outcome']): string => {
  if (status !== 'completed') return '';
  if (outcome === 'out_of_steps') return ', out of steps or at an unknown screen';
  return outcome === 'timed_out' ? ', after it had run out of time on its way' : '';
};

/** Such as `ada with the token "build", by job 01a2… of the schedule "Nightly"`. */
export function describeLauncher({
  user_id: id,
  user_name: name,
  token_name: token,
  job,
}: RunLauncher): string {
  const user = `${name ?? id}${token === null ? '' : ` with the token "${token}"`}`;
  if (job === null) return user;
  const schedule =
    job.schedule_id === null
      ? ''
      : ` of the schedule ${JSON.stringify(job.schedule_name ?? job.schedule_id)}`;
  return `${user}, by job ${job.job_id}${schedule}`;
}
