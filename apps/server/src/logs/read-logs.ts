import { logPageSize, logWindowMs } from '@phalanx/protocol';

import { idOfLine, timestampOfLine } from './log-batch.ts';
import type { LogSegment, StoredBatch } from './log-segment.ts';

/** A reply ends early rather than grow beyond this; an empty one would mean that there is nothing newer. */
const pageBytes = 4 * 1024 * 1024;

export interface LogQuery {
  deviceId: string;
  automationIds: readonly string[];
  /** Only entries after this one; empty for all. */
  from: string;
  nowMs: number;
}

interface Page {
  lines: string[];
  bytes: number;
}

const isFull = (page: Page): boolean => page.lines.length >= logPageSize || page.bytes >= pageBytes;

function addBatch(page: Page, batch: StoredBatch, from: string, limit: number): void {
  const someExpired = batch.oldest <= limit;
  for (const line of batch.lines.split('\n')) {
    if (isFull(page)) return;
    if (idOfLine(line) <= from || (someExpired && timestampOfLine(line) <= limit)) continue;
    page.lines.push(line);
    page.bytes += line.length;
  }
}

function readStream(segments: readonly LogSegment[], query: LogQuery, automationId: string): string[] {
  const page: Page = { lines: [], bytes: 0 };
  const limit = query.nowMs - logWindowMs;
  for (const segment of segments) {
    if (segment.lastId <= query.from) continue;
    for (const batch of segment.read(query.deviceId, automationId, query.from)) {
      addBatch(page, batch, query.from, limit);
      if (isFull(page)) return page.lines;
    }
  }
  return page.lines;
}

function cutToPage(lines: readonly string[]): string[] {
  const page: Page = { lines: [], bytes: 0 };
  for (const line of lines) {
    if (isFull(page)) break;
    page.lines.push(line);
    page.bytes += line.length;
  }
  return page.lines;
}

/**
 * The JSON of each entry, oldest first, as many as one reply holds. What a stream left out for want of room is newer
 * than what it gave, so merging pages of single streams and cutting again leaves no gap.
 */
export function readLogs(segments: readonly LogSegment[], query: LogQuery): string[] {
  const automationIds = [...new Set(query.automationIds)];
  const streams = automationIds.map((automationId) => readStream(segments, query, automationId));
  if (streams.length === 1) return streams[0] ?? [];
  return mergeStreams(streams);
}

/** Lines begin with their ID, so their order is that of the IDs. */
function mergeStreams(streams: readonly string[][]): string[] {
  const full = streams.filter((lines) =>
    isFull({ lines, bytes: lines.reduce((sum, line) => sum + line.length, 0) }),
  );
  const lastOfFull = full.map((lines) => idOfLine(lines.at(-1) ?? '')).sort()[0];
  const merged = streams.flat().sort((a, b) => (a < b ? -1 : 1));
  const complete = lastOfFull === undefined ? merged : merged.filter((line) => idOfLine(line) <= lastOfFull);
  return cutToPage(complete);
}
