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

/** Lines begin with their ID, so their order is that of the IDs. */
const isAfter = (line: string, bound: string): boolean => bound !== '' && idOfLine(line) > bound;

/** `bound`: the ID after which nothing is wanted; empty when everything is. */
function readStream(
  segments: readonly LogSegment[],
  query: LogQuery,
  automationId: string,
  bound: string,
): string[] {
  const page: Page = { lines: [], bytes: 0 };
  const limit = query.nowMs - logWindowMs;
  for (const segment of segments) {
    if (segment.lastId <= query.from) continue;
    for (const batch of segment.read(query.deviceId, automationId, query.from)) {
      addBatch(page, batch, query.from, limit);
      if (isFull(page) || isAfter(page.lines.at(-1) ?? '', bound)) return page.lines;
    }
  }
  return page.lines;
}

function cutToPage(lines: readonly string[]): Page {
  const page: Page = { lines: [], bytes: 0 };
  for (const line of lines) {
    if (isFull(page)) break;
    page.lines.push(line);
    page.bytes += line.length;
  }
  return page;
}

/**
 * The JSON of each entry, oldest first, as many as one reply holds. A stream is cut only where it fills a reply alone,
 * so what it left out is newer than what any reply with it holds. Never more than two replies are in memory.
 */
export function readLogs(segments: readonly LogSegment[], query: LogQuery): string[] {
  let page: Page = { lines: [], bytes: 0 };
  for (const automationId of new Set(query.automationIds)) {
    const bound = isFull(page) ? idOfLine(page.lines.at(-1) ?? '') : '';
    const lines = readStream(segments, query, automationId, bound);
    if (lines.length > 0) page = cutToPage([...page.lines, ...lines].sort((a, b) => (a < b ? -1 : 1)));
  }
  return page.lines;
}
