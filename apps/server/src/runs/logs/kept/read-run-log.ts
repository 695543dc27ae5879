import { TimeSlice } from '../../../kernel/limits/time-slice.ts';
import { entriesOf, entrySeparator, idOfEntry, runIdOf, traceStreamOf } from '../log-batch.ts';
import type { RecentLogs } from '../tables/recent-logs.ts';
import { pageBytes } from '../log-query.ts';
import { type KeptChunk, textIn } from './kept-chunk-store.ts';
import type { ArchivedLogs } from './archived-logs.ts';
import { type PageQuery, RunLogPage } from './run-log-page.ts';

/** Run that log entries belong to. */
export interface LoggedRun {
  runId: string;
  deviceId: string;
  automationId: string;
}

interface Sources {
  kept: ArchivedLogs;
  store: RecentLogs;
}

/** Returns the body of a reply with the log of a run. */
export const readRunLog = (sources: Sources, run: LoggedRun, query: PageQuery): Promise<string> =>
  readEntries(sources, run, {
    page: new RunLogPage(query, 'logs'),
    gapOf: (before, missing) => gapEntry(run, before, missing),
  });

/** Returns the body of a reply with the steps of a run. Gaps are visible in the step numbers. */
export const readTrace = (sources: Sources, run: LoggedRun, query: PageQuery): Promise<string> =>
  readEntries(
    sources,
    { ...run, automationId: traceStreamOf(run.runId) },
    { page: new RunLogPage(query, 'steps'), gapOf: () => undefined },
  );

/** Returns the body of a reply with the last entries of a run's log. */
export async function readRunLogEnd({ kept, store }: Sources, run: LoggedRun, last: number): Promise<string> {
  for (;;) {
    const chunks = await kept.read(run.runId);
    const lastKept = chunks.at(-1)?.last_id ?? '';
    const recent = await lastRecent(store, run, { from: lastKept, last });
    // Entries that were archived meanwhile may have been removed from the recent logs.
    if ((await kept.lastIdOf(run.runId)) > lastKept) continue;
    const entries = newestOf(await lastOf(chunks, recent, last));
    const isTruncated = chunks.some((_, index) => missingBefore(chunks, index) > 0);
    return `{"success":true,"logs":[${entries.join(',')}],"next_cursor":null,"truncated":${isTruncated}}`;
  }
}

async function lastRecent(
  logs: RecentLogs,
  run: LoggedRun,
  { from, last }: { from: string; last: number },
): Promise<string[]> {
  let entries: string[] = [];
  const slice = new TimeSlice();
  for await (const batches of logs.read(run, from))
    for (const batch of batches) {
      if (runIdOf(batch.entries) !== run.runId) continue;
      entries.push(...entriesOf(batch.entries));
      if (entries.length > 2 * last) entries = entries.slice(-last);
      if (slice.isOver) await slice.next();
    }
  return entries.filter((entry) => idOfEntry(entry) > from).slice(-last);
}

async function lastOf(chunks: readonly KeptChunk[], recent: string[], last: number): Promise<string[]> {
  const parts = [recent];
  let count = recent.length;
  for (const chunk of chunks.toReversed()) {
    if (count >= last) break;
    const entries = (await textIn(chunk)).split(entrySeparator);
    parts.unshift(entries);
    count += entries.length;
  }
  return parts.flat().slice(-last);
}

/** Returns the newest entries that fit in a reply. */
function newestOf(entries: readonly string[]): readonly string[] {
  let length = 0;
  const first = entries.findLastIndex((entry) => (length += entry.length) > pageBytes);
  return entries.slice(first + 1);
}

interface Reading {
  page: RunLogPage;
  /** Creates the entry that marks a gap; undefined for no entry. */
  gapOf: (before: KeptChunk, missing: number) => string | undefined;
}

/** Reads the kept entries, followed by those that are still in the recent logs. */
async function readEntries({ kept, store }: Sources, run: LoggedRun, reading: Reading): Promise<string> {
  const { page } = reading;
  for (;;) {
    const chunks = await kept.read(run.runId);
    await takeKept(chunks, reading);
    const lastKept = chunks.at(-1)?.last_id ?? '';
    // Entries that were archived meanwhile may have been removed from the recent logs.
    if (!page.isFull && (await kept.lastIdOf(run.runId)) > lastKept) continue;
    if (!page.isFull) await takeRecent(page, store, run);
    return page.body(chunks.some((_, index) => missingBefore(chunks, index) > 0));
  }
}

async function takeKept(chunks: readonly KeptChunk[], { page, gapOf }: Reading): Promise<void> {
  for (const [index, chunk] of chunks.entries()) {
    const missing = missingBefore(chunks, index);
    const before = chunks[index - 1];
    const gap = missing > 0 && before !== undefined ? gapOf(before, missing) : undefined;
    if (gap !== undefined) page.offer(gap);
    if (page.isFull) return;
    if (chunk.last_id <= page.after) continue;
    await page.offerAll(await textIn(chunk));
  }
}

async function takeRecent(page: RunLogPage, logs: RecentLogs, run: LoggedRun): Promise<void> {
  for await (const batches of logs.read(run, page.after)) {
    for (const { entries } of batches) {
      if (runIdOf(entries) !== run.runId) continue;
      await page.offerAll(entries.toString());
      if (page.isFull) return;
    }
  }
}

/** Returns the number of entries that were dropped between a chunk and the one before it. */
function missingBefore(chunks: readonly KeptChunk[], index: number): number {
  const [before, chunk] = [chunks[index - 1], chunks[index]];
  return before === undefined || chunk === undefined ? 0 : chunk.first - before.first - before.count;
}

/**
 * Creates the entry that marks a gap. Its ID directly follows that of the last entry before the gap; no other entry has
 * it.
 */
function gapEntry({ runId, automationId }: LoggedRun, before: KeptChunk, count: number): string {
  const what = count === 1 ? '1 log entry was' : `${count} log entries were`;
  return JSON.stringify({
    id: idAfter(before.last_id),
    run_id: runId,
    automationId,
    message: `${what} left out here: a log this long keeps its beginning and its end`,
    path: null,
    lineNumber: 0,
    messageLevel: 'warn',
    timestamp: Number.parseInt(before.last_id.replaceAll('-', '').slice(0, 12), 16),
  });
}

const lastDigits = 12;

function idAfter(id: string): string {
  const end = (Number.parseInt(id.slice(-lastDigits), 16) + 1) % 2 ** 48;
  return id.slice(0, -lastDigits) + end.toString(16).padStart(lastDigits, '0');
}
