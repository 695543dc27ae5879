import type { LogLevel } from '@phalanx/protocol';

import { TimeSlice } from '../../../kernel/limits/time-slice.ts';
import { entrySeparator, idOfEntry, runIdOf, traceStreamOf, messageOfEntry } from '../log-batch.ts';
import type { RecentLogs } from '../tables/recent-logs.ts';
import { pageBytes } from '../log-query.ts';
import { type KeptChunk, textIn } from './kept-chunk-store.ts';
import type { ArchivedLogs } from './archived-logs.ts';

/** So much is looked through for one reply, in characters; the cursor goes on from there. */
const maxExaminedLength = 16 * 1024 * 1024;

/** The run as its log entries name it. */
export interface LoggedRun {
  runId: string;
  deviceId: string;
  automationId: string;
}

interface Sources {
  kept: ArchivedLogs;
  store: RecentLogs;
}

/** The body of a reply with the log of a run. */
export const readRunLog = (sources: Sources, run: LoggedRun, query: PageQuery): Promise<string> =>
  readEntries(sources, run, {
    page: new RunLogPage(query, 'logs'),
    gapOf: (before, missing) => gapEntry(run, before, missing),
  });

/** The body of a reply with the steps of a run. A gap shows in their numbers. */
export const readTrace = (sources: Sources, run: LoggedRun, query: PageQuery): Promise<string> =>
  readEntries(
    sources,
    { ...run, automationId: traceStreamOf(run.runId) },
    { page: new RunLogPage(query, 'steps'), gapOf: () => undefined },
  );

/** The body of a reply with the last entries of a run's log. */
export async function readRunLogEnd({ kept, store }: Sources, run: LoggedRun, last: number): Promise<string> {
  for (;;) {
    const chunks = await kept.read(run.runId);
    const lastKept = chunks.at(-1)?.last_id ?? '';
    const recent = await lastRecent(store, run, { from: lastKept, last });
    // What was kept meanwhile may be gone from the recent logs.
    if ((await kept.stateOf(run.runId)).lastId > lastKept) continue;
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
      entries.push(...batch.entries.toString().split(entrySeparator));
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

/** As many as a reply may hold. */
function newestOf(entries: readonly string[]): readonly string[] {
  let length = 0;
  const first = entries.findLastIndex((entry) => (length += entry.length) > pageBytes);
  return entries.slice(first + 1);
}

interface Reading {
  page: RunLogPage;
  /** What stands where entries are missing. */
  gapOf: (before: KeptChunk, missing: number) => string | undefined;
}

/** What is kept, and after it what is still in the recent logs. */
async function readEntries({ kept, store }: Sources, run: LoggedRun, reading: Reading): Promise<string> {
  const { page } = reading;
  for (;;) {
    const chunks = await kept.read(run.runId);
    await takeKept(chunks, reading);
    const lastKept = chunks.at(-1)?.last_id ?? '';
    // What was kept meanwhile may be gone from the recent logs.
    if (!page.isFull && (await kept.stateOf(run.runId)).lastId > lastKept) continue;
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

/** How many entries were left out between a chunk and the one before it. */
function missingBefore(chunks: readonly KeptChunk[], index: number): number {
  const [before, chunk] = [chunks[index - 1], chunks[index]];
  return before === undefined || chunk === undefined ? 0 : chunk.first - before.first - before.count;
}

/** Stands where entries are missing. Its ID is the next after the last one before them, which nothing else has. */
function gapEntry({ runId, automationId }: LoggedRun, before: KeptChunk, count: number): string {
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

export interface PageQuery {
  /** Only entries after this one; empty for all. */
  from: string;
  /** `null`: all. */
  levels: readonly LogLevel[] | null;
  /** Text that messages must hold, in either letter case; empty for all. */
  search: string;
  limit: number;
}

/** Takes entries in their order until a reply is full. */
export class RunLogPage {
  readonly #query: PageQuery;
  readonly #name: 'logs' | 'steps';
  readonly #levels: readonly string[] | null;
  readonly #search: string;
  /** In the JSON of a message the text looks as it is. */
  readonly #isPlain: boolean;
  readonly #slice = new TimeSlice();
  readonly #entries: string[] = [];
  #length = 0;
  #examinedLength = 0;
  #after: string;
  #hasMore = false;

  /** `name`: of the entries, in the reply. */
  constructor(query: PageQuery, name: 'logs' | 'steps') {
    this.#query = query;
    this.#name = name;
    this.#after = query.from;
    // No message can hold this text: the quotes in it are escaped.
    this.#levels = query.levels && query.levels.map((level) => `"messageLevel":"${level}"`);
    this.#search = query.search.toLowerCase();
    this.#isPlain = JSON.stringify(this.#search) === `"${this.#search}"`;
  }

  /** ID of the last entry that was looked at. */
  get after(): string {
    return this.#after;
  }

  get isFull(): boolean {
    return this.#hasMore;
  }

  /** `text`: the JSON of entries, joined by `entrySeparator`. Now and then others have their turn. */
  async offerAll(text: string): Promise<void> {
    if (this.#slice.isOver) await this.#slice.next();
    if (this.#leaveOut(text)) return;
    for (const entry of text.split(entrySeparator)) {
      this.offer(entry);
      if (this.#hasMore) return;
      if (this.#slice.isOver) await this.#slice.next();
    }
  }

  /** `entry`: its JSON. One that was looked at before is left out. */
  offer(entry: string): void {
    const id = idOfEntry(entry);
    if (this.#hasMore || id <= this.#after) return;
    const isMatch = this.#matches(entry);
    if (this.#isFullFor(isMatch)) {
      this.#hasMore = true;
      return;
    }
    this.#after = id;
    this.#examinedLength += entry.length;
    if (!isMatch) return;
    this.#entries.push(entry);
    this.#length += entry.length;
  }

  /** The body of the reply. */
  body(truncated: boolean): string {
    const cursor = this.#hasMore ? `"${this.#after}"` : 'null';
    return `{"success":true,"${this.#name}":[${this.#entries.join(',')}],"next_cursor":${cursor},"truncated":${truncated}}`;
  }

  /** False: some of the entries may match, or not all of them are to be looked at. */
  #leaveOut(text: string): boolean {
    if (this.#search === '' || !this.#isPlain || this.#hasMore) return false;
    if (this.#examinedLength + text.length > maxExaminedLength || this.#isFullFor(false)) return false;
    if (text.toLowerCase().includes(this.#search)) return false;
    const last = idOfEntry(text.slice(text.lastIndexOf(entrySeparator) + entrySeparator.length));
    if (last > this.#after) this.#after = last;
    this.#examinedLength += text.length;
    return true;
  }

  #isFullFor(isMatch: boolean): boolean {
    if (this.#examinedLength >= maxExaminedLength || this.#length >= pageBytes) return true;
    return isMatch && this.#entries.length >= this.#query.limit;
  }

  #matches(entry: string): boolean {
    if (this.#levels !== null && !this.#levels.some((level) => entry.includes(level))) return false;
    return this.#search === '' || messageOfEntry(entry).toLowerCase().includes(this.#search);
  }
}
