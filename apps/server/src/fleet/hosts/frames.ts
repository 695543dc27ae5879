import {
  HostFrameHeader,
  HostMessage,
  maxLogMessageLength,
  maxTextFrameBytes,
  mostOfHost,
  WireLogEntries,
  type WireLogEntry,
} from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import { findExcess, usualBounds } from '../../http/requests/bodies/json-bounds.ts';
import type { HostFrameScheduler } from '../../kernel/limits/host-frame-scheduler.ts';
import type { LogFrame } from './host-link.ts';

const hostMessage = Compile(HostMessage);
const frameHeader = Compile(HostFrameHeader);
const logEntries = Compile(WireLogEntries);

const lineFeed = 0x0a;
/** A header names a run or a request; more is not one. */
const maxHeaderBytes = 1024;

/** Twelve names for each run or phone of a full page. */
const bounds = { ...usualBounds, names: 100_000, objects: 100_000 };

/** Stored in about two milliseconds. */
const pieceOf = { entries: 200, bytes: 64 * 1024 };

/** A message that does not fit the protocol; the text goes to the host's operator. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

function parseJson(bytes: Buffer, what: string, revive?: Reviver): unknown {
  const excess = findExcess(bytes, bounds);
  if (excess !== undefined) throw new ProtocolError(`${what} ${excess}`);
  try {
    return JSON.parse(bytes.toString('utf8'), revive);
  } catch (error) {
    throw new ProtocolError(`${what} is not JSON`, { cause: error });
  }
}

type Reviver = (key: string, value: unknown) => unknown;

/** The beginning of an escape that may stand for what no text in a database can have. */
const suspicious = ['\\u0000', '\\ud', '\\uD'];

/**
 * PostgreSQL has no NUL in a text, and no encoding has half a surrogate pair: what a host would repeat for ever
 * because it can't be stored is replaced.
 */
const toStorable: Reviver = (_key, value) =>
  typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value;

const runsHead = Buffer.from('{"type":"runs"');

/** Hosts write the type first; what does otherwise is not known at once for what it is. */
export const isOfRuns = (bytes: Buffer): boolean => bytes.subarray(0, runsHead.length).equals(runsHead);

export function parseHostMessage(bytes: Buffer): HostMessage {
  if (bytes.length > maxTextFrameBytes)
    throw new ProtocolError(`a message has more than ${maxTextFrameBytes} bytes`);
  const isSuspicious = suspicious.some((text) => bytes.includes(text));
  const message = parseJson(bytes, 'a message', isSuspicious ? toStorable : undefined);
  if (hostMessage.Check(message)) return message;
  throw new ProtocolError('a message does not fit the protocol');
}

export function parseFrame(frame: Buffer): { header: HostFrameHeader; payload: Buffer } {
  const end = frame.subarray(0, maxHeaderBytes).indexOf(lineFeed);
  if (end === -1) throw new ProtocolError('a binary frame has no header');
  const header = parseJson(frame.subarray(0, end), 'a header');
  if (!frameHeader.Check(header)) throw new ProtocolError('a header does not fit the protocol');
  return { header, payload: frame.subarray(end + 1) };
}

const hasFittingMessage = ([, , , message]: WireLogEntry): boolean => message.length <= maxLogMessageLength;

function parseLogEntries(payload: Buffer): WireLogEntries {
  const entries = parseJson(payload, 'a batch of log entries');
  if (logEntries.Check(entries) && entries.every(hasFittingMessage)) return entries;
  throw new ProtocolError('a batch of log entries does not fit the protocol');
}

type Hello = Extract<HostMessage, { type: 'hello' }>;
type Page = Pick<Hello, 'devices' | 'runs' | 'more'>;

/** Puts together a `hello` that comes in pages. */
export class HelloPages {
  #hello: Hello | undefined;

  /** The whole `hello` with its last page; `more` before; undefined for a message that is no part of one. */
  take(message: HostMessage): Hello | 'more' | undefined {
    if (message.type === 'hello_more') return this.#add(message);
    if (this.#hello !== undefined) throw new ProtocolError('the pages of hello must come first');
    if (message.type !== 'hello') return undefined;
    if (message.more !== true) return message;
    this.#hello = message;
    return 'more';
  }

  #add({ devices, runs, more }: Page): Hello | 'more' {
    const hello = this.#hello;
    if (hello === undefined) throw new ProtocolError('hello_more follows a hello that has more');
    for (const one of devices) hello.devices.push(one);
    for (const one of runs) hello.runs.push(one);
    if (hello.devices.length > mostOfHost.devices || hello.runs.length > mostOfHost.runs)
      throw new ProtocolError('hello has too many devices or runs');
    if (more === true) return 'more';
    this.#hello = undefined;
    return hello;
  }
}

interface LogPasser {
  scheduler: HostFrameScheduler;
  userId: string;
  /** Whether anybody still waits for it. */
  isWanted: () => boolean;
  tell: (frame: LogFrame) => Promise<void>;
}

/** Passes on the entries of a frame: together, or of a user who has a pace to keep, in pieces. Throws `ProtocolError`. */
export function passLogs(
  payload: Buffer,
  firstSeq: number,
  { scheduler, userId, isWanted, tell }: LogPasser,
): Promise<void> {
  return scheduler.pass(userId, payload.length, async (pace) => {
    if (!isWanted()) return;
    const startedAt = performance.now();
    const entries = parseLogEntries(payload);
    if (pace === undefined) return tell({ firstSeq, entries, sizeBytes: payload.length });
    scheduler.note(userId, performance.now() - startedAt);
    for (const piece of piecesOf(entries, firstSeq, payload.length)) {
      await pace();
      if (!isWanted()) return;
      await tell(piece);
    }
  });
}

function* piecesOf(entries: WireLogEntries, firstSeq: number, sizeBytes: number): Generator<LogFrame> {
  const bytesEach = sizeBytes / entries.length;
  const most = Math.max(1, Math.min(pieceOf.entries, Math.floor(pieceOf.bytes / bytesEach)));
  for (let first = 0; first < entries.length; first += most) {
    const some = entries.slice(first, first + most);
    yield { firstSeq: firstSeq + first, entries: some, sizeBytes: Math.ceil(some.length * bytesEach) };
  }
}
