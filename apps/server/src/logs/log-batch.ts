import { logLevels, type WireLogEntry } from '@phalanx/protocol';

import type { LogIds } from './log-ids.ts';

/** Where entries belong: what ran, and on which device. */
export interface LogStream {
  readonly runId: string;
  readonly deviceId: string;
  readonly automationId: string;
  readonly ownerId: string;
}

/** Entries of one run as they are stored: their JSON, joined as in the reply. */
export interface LogBatch {
  stream: LogStream;
  /** Number of the last entry within its run. */
  lastSeq: number;
  firstId: string;
  lastId: string;
  /** Epoch ms of the oldest and the newest entry. */
  oldest: number;
  newest: number;
  count: number;
  /** The JSON of each entry, joined by `entrySeparator`. */
  entries: string;
}

/** A batch as it is read again. */
export interface StoredBatch {
  first_id: string;
  last_id: string;
  /** Epoch ms of the oldest entry. */
  oldest: number;
  count: number;
  /** The JSON of each entry, joined by `entrySeparator`. Bytes, because most replies pass them on unread. */
  entries: Buffer;
}

/** JSON holds no line feed but between its parts, so this stands only between entries. */
export const entrySeparator = ',\n';

/** Length of `{"id":"`, and of the UUID that follows it. */
const idStart = 7;
const idEnd = idStart + 36;

export const idOfEntry = (entry: string): string => entry.slice(idStart, idEnd);

/** Where the time stands: every entry ends with it. */
export const timestampOfEntry = (entry: string): number =>
  Number(entry.slice(entry.lastIndexOf(':') + 1, -1));

/** Gives the entries their IDs. Times in the future, from a clock that is ahead, become now. */
export function encodeBatch(
  ids: LogIds,
  nowMs: number,
  stream: LogStream,
  numbered: { lastSeq: number; entries: readonly WireLogEntry[] },
): LogBatch {
  const automationId = JSON.stringify(stream.automationId);
  let oldest = nowMs;
  let newest = 0;
  const texts = numbered.entries.map(([time, level, line, message]) => {
    const timestamp = Math.min(time, nowMs);
    oldest = Math.min(oldest, timestamp);
    newest = Math.max(newest, timestamp);
    return `{"id":"${ids.next(nowMs)}","automationId":${automationId},"message":${JSON.stringify(message)},"lineNumber":${line},"messageLevel":"${logLevels[level] ?? 'log'}","timestamp":${timestamp}}`;
  });
  return {
    stream,
    lastSeq: numbered.lastSeq,
    firstId: idOfEntry(texts[0] ?? ''),
    lastId: idOfEntry(texts.at(-1) ?? ''),
    oldest,
    newest,
    count: texts.length,
    entries: texts.join(entrySeparator),
  };
}
