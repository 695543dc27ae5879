import { logLevels, type WireLogEntry, wireStepLevel, WireStep } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

import type { RunOrigin } from '../runs/stored-run.ts';
import type { IncreasingIds } from '../../kernel/uuid-v7.ts';

/** Stream of log entries: a run with its automation and device. */
export interface LogStream extends RunOrigin {
  readonly runId: string;
}

/** Key of the stream of one automation on one device. */
export type StreamKey = Pick<LogStream, 'deviceId' | 'automationId'>;

/** Returns the map key of a stream. */
export const streamKeyOf = ({ deviceId, automationId }: StreamKey): string => `${deviceId} ${automationId}`;

/** Entries of one run as received from a host, numbered from `firstSeq`. */
export interface IncomingEntries {
  stream: LogStream;
  firstSeq: number;
  entries: readonly WireLogEntry[];
  /** Epoch of the connection that delivered them. */
  epoch: number;
}

/** Kinds of entries: lines of a log, and steps of a trace. Each run has a stream of both. */
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
  /** Times of the oldest and the newest entry, epoch ms. */
  oldest: number;
  newest: number;
  count: number;
  /** JSON of the entries, joined by `entrySeparator`. */
  entries: string;
}

/** A batch as it is read from the storage. */
export interface StoredBatch {
  first_id: string;
  last_id: string;
  /** Time of the oldest entry, epoch ms. */
  oldest: number;
  count: number;
  /** JSON of the entries, joined by `entrySeparator`. Kept as bytes, because most replies pass it on unparsed. */
  entries: Buffer;
  /** Body of a reply with these `entries`. Most replies consist of one batch, and are sent without a copy. */
  reply?: Buffer;
}

const replyHead = Buffer.from('{"logs":[');
const replyTail = Buffer.from(']}');

/** Creates the body of a reply. `entries` includes the separators. */
export const replyOf = (entries: readonly Buffer[]): Buffer =>
  Buffer.concat([replyHead, ...entries, replyTail]);

/** Returns the entries within a reply. */
export const entriesIn = (reply: Buffer): Buffer =>
  reply.subarray(replyHead.length, reply.length - replyTail.length);

/** Separator of entries. The JSON of an entry contains no line feed, so this text occurs only between entries. */
export const entrySeparator = ',\n';

/** Splits a batch into the JSON of its entries. */
export const entriesOf = (entries: Buffer): string[] => entries.toString().split(entrySeparator);

const uuidLength = 36;
/** Offset of the ID, with which every entry begins. */
const idStart = '{"id":"'.length;

/** Text between the entry's ID and the run's ID. Entries of the previous release lack it. */
const runIdName = '","run_id":"';
const runIdStart = idStart + uuidLength + runIdName.length;

/** Returns the run ID of a batch; undefined for entries of the previous release. */
export function runIdOf(entries: Buffer): string | undefined {
  const head = entries.toString('latin1', idStart + uuidLength, runIdStart + uuidLength);
  return head.startsWith(runIdName) ? head.slice(runIdName.length) : undefined;
}

/** Text behind the run's ID in a step; the step's number follows. */
const stepName = '","step":';

/** Returns the kind of a batch. All entries of a batch have the same kind. */
export function kindOf(entries: Buffer): EntryKind {
  const start = runIdStart + uuidLength;
  return entries.toString('latin1', start, start + stepName.length) === stepName ? 'trace' : 'log';
}

export const idOfEntry = (entry: string): string => entry.slice(idStart, idStart + uuidLength);

/** Returns the time of an entry, epoch ms. Every entry ends with it. */
export const timestampOfEntry = (entry: string): number =>
  Number(entry.slice(entry.lastIndexOf(':') + 1, -1));

/** Returns the message that the user's code logged. */
export function messageOfEntry(entry: string): string {
  const parsed: unknown = JSON.parse(entry);
  const isEntry = typeof parsed === 'object' && parsed !== null && 'message' in parsed;
  return isEntry && typeof parsed.message === 'string' ? parsed.message : '';
}

interface Numbered {
  lastSeq: number;
  entries: readonly WireLogEntry[];
}

/** Assigns IDs to the entries, log lines before steps. Drops invalid steps. */
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

/** Returns the stream name of a run's steps, which are stored beside its log. No automation has this name. */
export const traceStreamOf = (runId: string): string => `trace ${runId}`;

/** Assigns IDs to the entries. Clamps future times, from a clock that is ahead, to now. */
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

/**
 * Creates an encoder of source paths. It caches the last path, because the entries of a batch mostly come from one
 * file.
 */
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

/** Maximum length of a step's JSON, in characters: far more than hosts send. */
const maxStepLength = 8192;

const isStep = Compile(WireStep);
/** Keys of a step. The number comes first, because it distinguishes steps from log lines. */
const keys = ['step', ...Object.keys(WireStep.properties).filter((key) => key !== 'step')];

/** A parsed step, ready to be stored. */
interface StepEntry {
  timestamp: number;
  /** JSON of the step, without braces, ID, run and time. */
  text: string;
}

/** Parses a step; undefined when it is invalid. */
function readStep([timestamp, , line, json, path]: WireLogEntry): StepEntry | undefined {
  const step: unknown = json.length > maxStepLength ? undefined : parse(json);
  if (!isStep.Check(step)) return undefined;
  // Drops unknown keys that a host may have added.
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
