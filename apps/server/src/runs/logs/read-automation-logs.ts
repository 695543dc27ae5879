import { logPageSize, logWindowMs } from '@phalanx/protocol';
import { TimeSlice } from '../../kernel/limits/time-slice.ts';
import {
  entriesOf,
  entrySeparator,
  idOfEntry,
  replyOf,
  type StoredBatch,
  timestampOfEntry,
} from './log-batch.ts';
import { pageBytes } from './log-query.ts';
import type { RecentLogs } from './tables/recent-logs.ts';

interface LogQuery {
  deviceId: string;
  automationIds: readonly string[];
  /** Cursor: ID of the entry after which to read; empty for all. */
  from: string;
  nowMs: number;
}

/** Stream that is read for a reply. */
interface Asked {
  automationId: string;
  /** ID after which no entries are needed; empty for no bound. */
  bound: string;
  slice: TimeSlice;
}

/** Batch, or the part of it that matches the query. */
type Part = Pick<StoredBatch, 'entries' | 'count' | 'reply'>;

const comma = Buffer.from(',');

/** Returns the body of a reply: `{"logs":[…]}`, oldest first, with as many entries as fit into one reply. */
export async function readAutomationLogs(logs: RecentLogs, query: LogQuery): Promise<Buffer> {
  const automationIds = [...new Set(query.automationIds)];
  const [only = ''] = automationIds;
  const parts =
    automationIds.length === 1
      ? await readStream(logs, query, { automationId: only, bound: '', slice: new TimeSlice() })
      : await mergeStreams(logs, query, automationIds);
  const [first] = parts;
  if (parts.length === 1 && first?.reply !== undefined) return first.reply;
  return replyOf(parts.flatMap(({ entries }, index) => (index === 0 ? [entries] : [comma, entries])));
}

/**
 * Merges the entries of several automations by ID. A stream is truncated only when it fills a reply by itself, so the
 * entries it omits are newer than all entries of any reply with it. At most two replies are in memory.
 */
async function mergeStreams(
  logs: RecentLogs,
  query: LogQuery,
  automationIds: readonly string[],
): Promise<Part[]> {
  let page: string[] = [];
  let bound = '';
  const slice = new TimeSlice();
  for (const automationId of automationIds) {
    const parts = await readStream(logs, query, { automationId, bound, slice });
    if (slice.isOver) await slice.next();
    // Entries begin with their ID, so their text sorts by ID.
    const merged = [...page, ...parts.flatMap(({ entries }) => entriesOf(entries))].toSorted();
    const length = countFitting(merged);
    page = merged.slice(0, length);
    if (length < merged.length) bound = idOfEntry(page.at(-1) ?? '');
  }
  if (page.length === 0) return [];
  return [{ entries: Buffer.from(page.join(entrySeparator)), count: page.length }];
}

/** Counts the leading entries that fit into one reply. */
function countFitting(entries: readonly string[]): number {
  let sizeBytes = 0;
  const end = entries.findIndex((entry) => {
    const isFull = sizeBytes >= pageBytes;
    sizeBytes += Buffer.byteLength(entry) + entrySeparator.length;
    return isFull;
  });
  return Math.min(logPageSize, end === -1 ? entries.length : end);
}

async function readStream(
  logs: RecentLogs,
  query: LogQuery,
  { automationId, bound, slice }: Asked,
): Promise<Part[]> {
  const parts: Part[] = [];
  let [room, sizeBytes] = [logPageSize, 0];
  for await (const batches of logs.read({ deviceId: query.deviceId, automationId }, query.from)) {
    for (const batch of batches) {
      if (bound !== '' && batch.first_id > bound) return parts;
      const part = partOf(batch, query, room);
      if (part.count > 0) parts.push(part);
      room -= part.count;
      sizeBytes += part.entries.length;
      if (room === 0 || sizeBytes >= pageBytes) return parts;
      if (slice.isOver) await slice.next();
    }
  }
  return parts;
}

const isWhole = (batch: StoredBatch, { from, nowMs }: LogQuery): boolean =>
  batch.first_id > from && batch.oldest > nowMs - logWindowMs;

/**
 * Trims a batch to the query. Whole batches are passed on as stored; entries are parsed only when the query cuts a
 * batch.
 */
function partOf(batch: StoredBatch, query: LogQuery, room: number): Part {
  if (isWhole(batch, query) && batch.count <= room) return batch;
  const limit = query.nowMs - logWindowMs;
  const entries = entriesOf(batch.entries)
    .filter((entry) => idOfEntry(entry) > query.from && timestampOfEntry(entry) > limit)
    .slice(0, room);
  return { entries: Buffer.from(entries.join(entrySeparator)), count: entries.length };
}
