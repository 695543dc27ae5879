import { logLevels, type WireLogEntry, wireStepLevel, WireStep } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

import type { RunOrigin } from '../runs/stored-run.ts';
import type { IncreasingIds } from '../../kernel/uuid-v7.ts';

/** Stream that entries belong to: a run, and its automation and device. */
export interface LogStream extends RunOrigin {
  readonly runId: string;
}

/** Stream of what one automation logged on one device. */
export type StreamKey = Pick<LogStream, 'deviceId' | 'automationId'>;

/** Key of a stream, for maps. */
export const streamKeyOf = ({ deviceId, automationId }: StreamKey): string => `${deviceId} ${automationId}`;

/** Entries of one run as a host sent them, numbered from `firstSeq`. */
export interface IncomingEntries {
  stream: LogStream;
  firstSeq: number;
  entries: readonly WireLogEntry[];
  /** Epoch of the connection that they came over. */
  epoch: number;
}

/** Kind of an entry: a line of a log, or a step. Each run has a stream of both. */
export const entryKinds = ['log', 'trace'] as const;
export type EntryKind = (typeof entryKinds)[number];

/** Entries of one run as they are stored: their JSON, joined as in the reply. */
export interface LogBatch {
  kind: EntryKind;
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
  /** Body of a reply with these `entries`: most replies are one batch, and need no copy of it. */
  reply?: Buffer;
}

const replyHead = Buffer.from('{"logs":[');
const replyTail = Buffer.from(']}');

/** Creates the body of a reply. `entries` include the separators between them. */
export const replyOf = (entries: readonly Buffer[]): Buffer =>
  Buffer.concat([replyHead, ...entries, replyTail]);

/** Returns the entries within a reply. */
export const entriesIn = (reply: Buffer): Buffer =>
  reply.subarray(replyHead.length, reply.length - replyTail.length);

/** JSON holds no line feed but between its parts, so this stands only between entries. */
export const entrySeparator = ',\n';

/** Splits entries. Each is JSON. */
export const entriesOf = (entries: Buffer): string[] => entries.toString().split(entrySeparator);

const uuidLength = 36;
/** Position of the ID: every entry begins with it. */
const idStart = '{"id":"'.length;

/** Text between the ID and the run's ID. Entries of the last release do not have it. */
const runIdName = '","run_id":"';
const runIdStart = idStart + uuidLength + runIdName.length;

/** Returns the run of a batch's entries. */
export function runIdOf(entries: Buffer): string | undefined {
  const head = entries.toString('latin1', idStart + uuidLength, runIdStart + uuidLength);
  return head.startsWith(runIdName) ? head.slice(runIdName.length) : undefined;
}

/** Text behind the run's ID in a step; the step's number follows. */
const stepName = '","step":';

/** Kind of a batch's entries: all of them have the same. */
export function kindOf(entries: Buffer): EntryKind {
  const start = runIdStart + uuidLength;
  return entries.toString('latin1', start, start + stepName.length) === stepName ? 'trace' : 'log';
}

export const idOfEntry = (entry: string): string => entry.slice(idStart, idStart + uuidLength);

/** Time of an entry: every entry ends with it. */
export const timestampOfEntry = (entry: string): number =>
  Number(entry.slice(entry.lastIndexOf(':') + 1, -1));

/** Message that the user's code logged. */
export function messageOfEntry(entry: string): string {
  const parsed: unknown = JSON.parse(entry);
  const isEntry = typeof parsed === 'object' && parsed !== null && 'message' in parsed;
  return isEntry && typeof parsed.message === 'string' ? parsed.message : '';
}

interface Numbered {
  lastSeq: number;
  entries: readonly WireLogEntry[];
}

/** Gives the entries their IDs, lines of the log first. Steps that are not valid are left out. */
export function encodeBatches(
  ids: IncreasingIds,
  nowMs: number,
  stream: LogStream,
  { lastSeq, entries }: Numbered,
): LogBatch[] {
  const lines = entries.filter(([, level]) => level !== wireStepLevel);
  const steps = entries
    .filter(([, level]) => level === wireStepLevel)
    .flatMap((entry) => readStep(entry) ?? []);
  return [
    ...(lines.length === 0 ? [] : [encodeBatch(ids, nowMs, stream, { lastSeq, entries: lines })]),
    ...(steps.length === 0 ? [] : [encodeSteps(ids, nowMs, stream, { lastSeq, steps })]),
  ];
}

function encodeSteps(
  ids: IncreasingIds,
  nowMs: number,
  stream: LogStream,
  { lastSeq, steps }: { lastSeq: number; steps: readonly StepEntry[] },
): LogBatch {
  const head = `"run_id":"${stream.runId}",`;
  const times = steps.map(({ timestamp }) => Math.min(timestamp, nowMs));
  const texts = steps.map(
    ({ text }, index) => `{"id":"${ids.next(nowMs)}",${head}${text},"timestamp":${times[index] ?? nowMs}}`,
  );
  const of = { ...stream, automationId: traceStreamOf(stream.runId) };
  return { kind: 'trace', stream: of, lastSeq, ...storedTexts(texts, times) };
}

/** The batch of a run's steps stands beside that of its log, under a name that no automation has. */
export const traceStreamOf = (runId: string): string => `trace ${runId}`;

/** Gives the entries their IDs. Times in the future, from a clock that is ahead, become now. */
export function encodeBatch(
  ids: IncreasingIds,
  nowMs: number,
  stream: LogStream,
  { lastSeq, entries }: Numbered,
): LogBatch {
  const belongs = `"run_id":"${stream.runId}","automationId":${JSON.stringify(stream.automationId)}`;
  const pathOf = createPathText();
  const times = entries.map(([time]) => Math.min(time, nowMs));
  const texts = entries.map(([time, level, line, message, path]) => {
    const timestamp = Math.min(time, nowMs);
    return `{"id":"${ids.next(nowMs)}",${belongs},"message":${JSON.stringify(message)},"path":${pathOf(path)},"lineNumber":${line},"messageLevel":"${logLevels[level] ?? 'log'}","timestamp":${timestamp}}`;
  });
  return { kind: 'log', stream, lastSeq, ...storedTexts(texts, times) };
}

function storedTexts(
  texts: readonly string[],
  times: readonly number[],
): Omit<LogBatch, 'kind' | 'stream' | 'lastSeq'> {
  return {
    firstId: idOfEntry(texts[0] ?? ''),
    lastId: idOfEntry(texts.at(-1) ?? ''),
    oldest: Math.min(...times),
    newest: Math.max(...times),
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

/** Maximum length of a step: far more than a step of a host has. */
const maxStepLength = 8192;

const isStep = Compile(WireStep);
/** Keys of a step, the number first, because it tells steps from lines of a log. */
const keys = ['step', ...Object.keys(WireStep.properties).filter((key) => key !== 'step')];

/** A step on its way to be stored. */
interface StepEntry {
  timestamp: number;
  /** JSON of the step, without braces, ID, run and time. */
  text: string;
}

/** Reads a step; undefined when it is not valid. */
function readStep([timestamp, , line, json, path]: WireLogEntry): StepEntry | undefined {
  const step: unknown = json.length > maxStepLength ? undefined : parse(json);
  if (!isStep.Check(step)) return undefined;
  // Other keys that a host may have put into it are dropped.
  const known = Object.fromEntries(
    Object.entries(step)
      .filter(([key]) => keys.includes(key))
      .toSorted(([one], [other]) => keys.indexOf(one) - keys.indexOf(other)),
  );
  const text = JSON.stringify({ ...known, path: path ?? null, line_number: line });
  return { timestamp, text: text.slice(1, -1) };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
