import type { LogEntry } from '@phalanx/protocol';

import { clockTime, exactDuration } from '../parts/time.tsx';

/** An entry as a line of text. */
export const textOfEntry = ({ timestamp, path, lineNumber, messageLevel, message }: LogEntry): string =>
  `${new Date(timestamp).toISOString()} ${messageLevel} ${path ?? ''}:${lineNumber} ${message}`;

/** The time of an entry, or how long after `above` it came, such as `+35 ms`. */
export function timeText({ timestamp }: LogEntry, above: LogEntry | undefined): string {
  if (above === undefined) return clockTime(timestamp);
  const gap = Math.max(0, timestamp - above.timestamp);
  return `+${gap < 1000 ? `${gap} ms` : exactDuration(gap)}`;
}
