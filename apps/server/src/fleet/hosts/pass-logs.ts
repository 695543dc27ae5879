import { maxLogMessageLength, WireLogEntries, type WireLogEntry } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import type { HostFrameScheduler } from '../../kernel/limits/host-frame-scheduler.ts';
import type { LogFrame } from './host-link.ts';
import { ProtocolError, parseJson } from './frames.ts';

const logEntries = Compile(WireLogEntries);

/** Maximum size of a piece, which is stored in about two milliseconds. */
const pieceOf = { entries: 200, bytes: 64 * 1024 };

const hasFittingMessage = ([, , , message]: WireLogEntry): boolean => message.length <= maxLogMessageLength;

function parseLogEntries(payload: Buffer): WireLogEntries {
  const entries = parseJson(payload, 'a batch of log entries');
  if (logEntries.Check(entries) && entries.every(hasFittingMessage)) return entries;
  throw new ProtocolError('a batch of log entries does not fit the protocol');
}

interface LogPasser {
  scheduler: HostFrameScheduler;
  userId: string;
  /** Whether anybody still waits for it. */
  isWanted: () => boolean;
  tell: (frame: LogFrame) => Promise<void>;
}

/**
 * Passes on the entries of a frame: together, or in pieces for a user who has a pace to keep. Throws `ProtocolError`.
 */
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
