import { entrySeparator, runIdOf } from '../log-batch.ts';
import type { RecentLogs } from '../log-store.ts';
import { type ChunkHeader, entriesIn, type KeptChunk } from './kept-chunk.ts';
import type { KeptLogs } from './kept-logs.ts';
import { type PageQuery, RunLogPage } from './run-log-page.ts';

/** The run as its log entries name it. */
export interface LoggedRun {
  runId: string;
  deviceId: string;
  automationId: string;
}

interface Sources {
  kept: KeptLogs;
  store: RecentLogs;
}

/** The body of a reply with the log of a run: what is kept, and after it what is still in the segments. */
export async function readRunLog(
  { kept, store }: Sources,
  run: LoggedRun,
  query: PageQuery,
): Promise<string> {
  const page = new RunLogPage(query);
  for (;;) {
    const chunks = await kept.read(run.runId);
    await takeKept(page, chunks, run);
    const lastKept = chunks.at(-1)?.header.last_id ?? '';
    // What was kept meanwhile may be gone from the segments.
    if (!page.isFull && kept.lastIdNow(run.runId) > lastKept) continue;
    if (!page.isFull) await takeRecent(page, store, run);
    return page.body(chunks.some((_, index) => missingBefore(chunks, index) > 0));
  }
}

async function takeKept(page: RunLogPage, chunks: readonly KeptChunk[], run: LoggedRun): Promise<void> {
  for (const [index, chunk] of chunks.entries()) {
    const missing = missingBefore(chunks, index);
    const before = chunks[index - 1]?.header;
    if (missing > 0 && before !== undefined) page.offer(gapEntry(run, before, missing));
    if (page.isFull) return;
    if (chunk.header.last_id <= page.after) continue;
    for (const entry of await entriesIn(chunk)) page.offer(entry);
  }
}

async function takeRecent(page: RunLogPage, logs: RecentLogs, run: LoggedRun): Promise<void> {
  for await (const batches of logs.read(run, page.after)) {
    for (const { entries } of batches) {
      if (runIdOf(entries) !== run.runId) continue;
      for (const entry of entries.toString().split(entrySeparator)) page.offer(entry);
      if (page.isFull) return;
    }
  }
}

/** How many entries were left out between a chunk and the one before it. */
function missingBefore(chunks: readonly KeptChunk[], index: number): number {
  const [before, chunk] = [chunks[index - 1]?.header, chunks[index]?.header];
  return before === undefined || chunk === undefined ? 0 : chunk.first - before.first - before.count;
}

/** Stands where entries are missing. Its ID is the next after the last one before them, which nothing else has. */
function gapEntry({ runId, automationId }: LoggedRun, before: ChunkHeader, count: number): string {
  const what = count === 1 ? '1 log entry was' : `${count} log entries were`;
  return JSON.stringify({
    id: idAfter(before.last_id),
    run_id: runId,
    automationId,
    message: `${what} left out here: of a log this long, the beginning and the end are kept`,
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
