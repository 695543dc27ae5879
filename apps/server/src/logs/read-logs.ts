import { logPageSize, logWindowMs } from '@phalanx/protocol';

import { entrySeparator, replyOf, type StoredBatch } from './log-batch.ts';
import { batchesOf, entriesOf, pageBytes, type LogPiece, type LogQuery } from './log-query.ts';
import { mergeStreams } from './merge-streams.ts';
import type { LogSegment } from './segment-store.ts';

const isWhole = (batch: StoredBatch, { from, nowMs }: LogQuery): boolean =>
  batch.first_id > from && batch.oldest > nowMs - logWindowMs;

/** Whole batches are passed on as they are stored; only where the query cuts one are its entries looked at. */
function pieceOf(batch: StoredBatch, query: LogQuery, room: number): LogPiece {
  if (isWhole(batch, query) && batch.count <= room) return wholeOf(batch);
  const entries = entriesOf(batch, query).slice(0, room);
  return { text: Buffer.from(entries.join(entrySeparator)), count: entries.length };
}

const wholeOf = ({ entries, count, reply }: StoredBatch): LogPiece =>
  reply === undefined ? { text: entries, count } : { text: entries, count, reply };

function readStream(segments: readonly LogSegment[], query: LogQuery, automationId: string): LogPiece[] {
  const pieces: LogPiece[] = [];
  let room = logPageSize;
  let bytes = 0;
  for (const batch of batchesOf(segments, query, automationId)) {
    const piece = pieceOf(batch, query, room);
    if (piece.count === 0) continue;
    pieces.push(piece);
    room -= piece.count;
    bytes += piece.text.length;
    if (room === 0 || bytes >= pageBytes) break;
  }
  return pieces;
}

const comma = Buffer.from(',');

/** The body of a reply: `{"logs":[…]}`, oldest first, as many entries as one reply holds. */
export function readLogs(segments: readonly LogSegment[], query: LogQuery): Buffer {
  const automationIds = [...new Set(query.automationIds)];
  const [only] = automationIds;
  const pieces =
    automationIds.length === 1 && only !== undefined
      ? readStream(segments, query, only)
      : mergeStreams(segments, query, automationIds);
  const [first] = pieces;
  if (pieces.length === 1 && first?.reply !== undefined) return first.reply;
  return replyOf(pieces.flatMap((piece, index) => (index === 0 ? [piece.text] : [comma, piece.text])));
}
