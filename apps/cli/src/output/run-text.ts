import { styleText } from 'node:util';
import type { Run, RunLauncher, LogEntry } from '@phalanx/protocol';

import { formatDuration } from './duration.ts';
import { environment } from '../config.ts';
import { printable } from './terminal.ts';

const words: Readonly<Record<Run['status'], string>> = {
  starting: 'is starting',
  running: 'is running',
  completed: 'completed',
  failed: 'failed',
  stopped: 'was stopped',
  timed_out: 'timed out',
  lost: 'was lost',
};

/**
 * Describes the end of a run, such as `failed after 3.2 s (uncaught_error: no luck)`. Uses the first line of the
 * message, because the log has the stack.
 */
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
  return outcome === 'timed_out' ? ', after it ran out of time' : '';
};

/** Describes the launcher of a run, such as `ada with the token "build", by job 01a2… of the schedule "Nightly"`. */
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

type Style = 'red' | 'yellow' | 'cyan' | 'dim';

const two = (value: number): string => String(value).padStart(2, '0');

/** Formats the local time of day. */
function timeOfDay(epochMs: number): string {
  const time = new Date(epochMs);
  const seconds = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
  return `${seconds}.${String(time.getMilliseconds()).padStart(3, '0')}`;
}

function styledByLevel(level: LogEntry['messageLevel'], text: string): string {
  if (level === 'log') return text;
  return styled(level === 'warn' ? 'yellow' : 'red', text);
}

/** Prints an entry, with further lines indented. `prefix` names the device if there are several. */
export function printLogEntry(entry: LogEntry, prefix = ''): void {
  const { timestamp, messageLevel, lineNumber, message } = entry;
  const start = `${timeOfDay(timestamp)}  ${messageLevel.padEnd(5)}  ${String(lineNumber).padStart(4)}  `;
  const margin = ' '.repeat(start.length);
  const label = prefix === '' ? '' : styled('cyan', `${prefix}  `);
  const [first = '', ...others] = printable(message).split('\n');
  console.log(label + styledByLevel(messageLevel, `${start}${first}`));
  for (const line of others) console.log(label + styledByLevel(messageLevel, `${margin}${line}`));
}

/** Adds a colour on a terminal, unless the user asked for none (https://no-color.org). */
function styled(style: Style, text: string): string {
  const isWanted = process.stdout.isTTY && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb';
  return isWanted ? styleText(style, text, { validateStream: false }) : text;
}
