import { logLevels, type WireLogEntry } from '@phalanx/protocol';

import type { IncreasingIds } from '../uuid-v7.ts';

/** Where entries belong: what ran, and on which device. */
export interface LogStream {
  readonly runId: string;
  readonly deviceId: string;
  readonly automationId: string;
  /** Who launched it. */
  readonly userId: string;
  readonly isDirect: boolean;
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
  /** `entries` where they stand as the body of a reply: most replies are one batch, and need no copy of it. */
  reply?: Buffer;
}

const replyHead = Buffer.from('{"logs":[');
const replyTail = Buffer.from(']}');

/** The body of a reply; `entries` are joined by what separates them. */
export const replyOf = (entries: readonly Buffer[]): Buffer =>
  Buffer.concat([replyHead, ...entries, replyTail]);

/** The entries within a reply. */
export const entriesIn = (reply: Buffer): Buffer =>
  reply.subarray(replyHead.length, reply.length - replyTail.length);

/** JSON holds no line feed but between its parts, so this stands only between entries. */
export const entrySeparator = ',\n';

const uuidLength = 36;
/** Where the ID stands: every entry begins with it. */
const idStart = '{"id":"'.length;

/** What stands between the ID and the run's; entries of the last release have it not. */
const runIdName = '","run_id":"';
const runIdStart = idStart + uuidLength + runIdName.length;

/** The run of a batch's entries. */
export function runIdOf(entries: Buffer): string | undefined {
  const head = entries.toString('latin1', idStart + uuidLength, runIdStart + uuidLength);
  return head.startsWith(runIdName) ? head.slice(runIdName.length) : undefined;
}

export const idOfEntry = (entry: string): string => entry.slice(idStart, idStart + uuidLength);

/** Where the time stands: every entry ends with it. */
export const timestampOfEntry = (entry: string): number =>
  Number(entry.slice(entry.lastIndexOf(':') + 1, -1));

/** What the user's code logged. */
export function messageOfEntry(entry: string): string {
  const parsed: unknown = JSON.parse(entry);
  const isEntry = typeof parsed === 'object' && parsed !== null && 'message' in parsed;
  return isEntry && typeof parsed.message === 'string' ? parsed.message : '';
}

/** Gives the entries their IDs. Times in the future, from a clock that is ahead, become now. */
export function encodeBatch(
  ids: IncreasingIds,
  nowMs: number,
  stream: LogStream,
  numbered: { lastSeq: number; entries: readonly WireLogEntry[] },
): LogBatch {
  const belongs = `"run_id":"${stream.runId}","automationId":${JSON.stringify(stream.automationId)}`;
  const pathOf = createPathText();
  let oldest = nowMs;
  let newest = 0;
  const texts = numbered.entries.map(([time, level, line, message, path]) => {
    const timestamp = Math.min(time, nowMs);
    oldest = Math.min(oldest, timestamp);
    newest = Math.max(newest, timestamp);
    return `{"id":"${ids.next(nowMs)}",${belongs},"message":${JSON.stringify(message)},"path":${pathOf(path)},"lineNumber":${line},"messageLevel":"${logLevels[level] ?? 'log'}","timestamp":${timestamp}}`;
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

/** JSON of a source path; the entries of a batch mostly come from one file. */
function createPathText() {
  let last: string | undefined;
  let text = 'null';
  return (path: string | undefined): string => {
    if (path === last) return text;
    last = path;
    text = path === undefined ? 'null' : JSON.stringify(path);
    return text;
  };
}
