import type { LogEntry } from '@phalanx/protocol';

/** An entry as a line of text. */
export const textOfEntry = ({ timestamp, path, lineNumber, messageLevel, message }: LogEntry): string =>
  `${new Date(timestamp).toISOString()} ${messageLevel} ${path ?? ''}:${lineNumber} ${message}`;
