import { logPageSize } from '@phalanx/protocol';

import { TimeSlice } from '../limits/time-slice.ts';
import { entrySeparator, idOfEntry } from './log-batch.ts';
import { entriesOf, pageBytes, type LogPiece, type LogQuery } from './log-query.ts';
import type { RecentLogs } from './tables/recent-logs.ts';

interface Page {
  entries: string[];
  bytes: number;
}

const isFull = (page: Page): boolean => page.entries.length >= logPageSize || page.bytes >= pageBytes;

const emptyPage = (): Page => ({ entries: [], bytes: 0 });

/** Whether more have room. */
function add(page: Page, entries: readonly string[]): boolean {
  for (const entry of entries) {
    if (isFull(page)) return false;
    page.entries.push(entry);
    page.bytes += entry.length;
  }
  return !isFull(page);
}

/** Entries begin with their ID, so their order as text is that of the IDs. */
const isAfter = (entry: string | undefined, bound: string): boolean =>
  entry !== undefined && bound !== '' && idOfEntry(entry) > bound;

/** As many as one reply holds. `bound`: the ID after which nothing is wanted; empty when everything is. */
async function readUpTo(
  logs: RecentLogs,
  query: LogQuery,
  { automationId, bound, slice }: { automationId: string; bound: string; slice: TimeSlice },
): Promise<readonly string[]> {
  const page = emptyPage();
  for await (const batches of logs.read({ deviceId: query.deviceId, automationId }, query.from)) {
    for (const batch of batches) {
      const entries = entriesOf(batch, query);
      if (!add(page, entries) || isAfter(entries.at(-1), bound)) return page.entries;
      if (slice.isOver) await slice.next();
    }
  }
  return page.entries;
}

/**
 * The entries of several automations in one order. A stream is cut only where it fills a reply alone, so what it left
 * out is newer than what any reply with it holds. Never more than two replies are in memory.
 */
export async function mergeStreams(
  logs: RecentLogs,
  query: LogQuery,
  automationIds: readonly string[],
): Promise<LogPiece[]> {
  let page = emptyPage();
  const slice = new TimeSlice();
  for (const automationId of automationIds) {
    const bound = isFull(page) ? idOfEntry(page.entries.at(-1) ?? '') : '';
    const stream = await readUpTo(logs, query, { automationId, bound, slice });
    if (slice.isOver) await slice.next();
    if (stream.length === 0) continue;
    const merged = [...page.entries, ...stream].sort((a, b) => (a < b ? -1 : 1));
    page = emptyPage();
    add(page, merged);
  }
  if (page.entries.length === 0) return [];
  return [{ text: Buffer.from(page.entries.join(entrySeparator)), count: page.entries.length }];
}
