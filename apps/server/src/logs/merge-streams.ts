import { logPageSize } from '@phalanx/protocol';

import { entrySeparator, idOfEntry } from './log-batch.ts';
import { batchesOf, entriesOf, pageBytes, type LogPiece, type LogQuery } from './log-query.ts';
import type { LogSegment } from './segment-store.ts';

interface Page {
  entries: string[];
  bytes: number;
}

const isFull = (page: Page): boolean => page.entries.length >= logPageSize || page.bytes >= pageBytes;

/** As many as one reply holds. */
function cutToPage(entries: Iterable<string>): Page {
  const page: Page = { entries: [], bytes: 0 };
  for (const entry of entries) {
    if (isFull(page)) break;
    page.entries.push(entry);
    page.bytes += entry.length;
  }
  return page;
}

/** Entries begin with their ID, so their order as text is that of the IDs. */
const isAfter = (entry: string | undefined, bound: string): boolean =>
  entry !== undefined && bound !== '' && idOfEntry(entry) > bound;

/** `bound`: the ID after which nothing is wanted; empty when everything is. */
function* readUpTo(
  segments: readonly LogSegment[],
  query: LogQuery,
  automationId: string,
  bound: string,
): Generator<string> {
  for (const batch of batchesOf(segments, query, automationId)) {
    const entries = entriesOf(batch, query);
    yield* entries;
    if (isAfter(entries.at(-1), bound)) return;
  }
}

/**
 * The entries of several automations in one order. A stream is cut only where it fills a reply alone, so what it left
 * out is newer than what any reply with it holds. Never more than two replies are in memory.
 */
export function mergeStreams(
  segments: readonly LogSegment[],
  query: LogQuery,
  automationIds: readonly string[],
): LogPiece[] {
  let page: Page = { entries: [], bytes: 0 };
  for (const automationId of automationIds) {
    const bound = isFull(page) ? idOfEntry(page.entries.at(-1) ?? '') : '';
    const stream = cutToPage(readUpTo(segments, query, automationId, bound));
    if (stream.entries.length === 0) continue;
    page = cutToPage([...page.entries, ...stream.entries].sort((a, b) => (a < b ? -1 : 1)));
  }
  if (page.entries.length === 0) return [];
  return [{ text: Buffer.from(page.entries.join(entrySeparator)), count: page.entries.length }];
}
