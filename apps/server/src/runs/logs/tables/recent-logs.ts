import { logWindowMs } from '@phalanx/protocol';
import type { LRUCache } from 'lru-cache';

import type { Clock } from '../../../kernel/clock.ts';
import { IncreasingIds, isUuidV7 } from '../../../kernel/uuid-v7.ts';
import {
  entriesIn,
  type IncomingEntries,
  type LogBatch,
  replyOf,
  type StoredBatch,
  type StreamKey,
  encodeBatches,
} from '../log-batch.ts';
import type { AskedBatches, FoundBatches, HostFlush, LogTable, LogTables } from './log-tables.ts';
import { RecentBatches } from './recent-batches.ts';
import { boundedCache } from '../../../kernel/bounded-cache.ts';

const tableMs = 60_000;
/** Maximum clock skew by which the server that opened a table may be ahead, in ms. */
const clocksApartMs = 5000;
/** Number of batches of the first read; further reads take `furtherBatches`. Most polls find one or two. */
const firstBatches = 20;
const furtherBatches = 100;
/** Maximum number of attempts. Something is wrong when other servers have stored entries of the same runs each time. */
const maxTries = 5;

/** Outcome of an append. */
interface Appended {
  /** Batches of the new entries. */
  readonly batches: LogBatch[];
  /** Stale connections, of which nothing is stored: their hosts have reconnected. */
  readonly replaced: Set<number>;
}

interface Options {
  tables: LogTables;
  clock: Clock;
}

/** Stores the log entries of the last 10 minutes in tables of about a minute. Expired tables are emptied as a whole. */
export class RecentLogs {
  readonly #store: LogTables;
  readonly #clock: Clock;
  readonly #ids = new IncreasingIds();
  readonly #progress = createStoredProgress();
  /** Tables by number. */
  #tables: readonly LogTable[] = [];
  /** Numbers of the tables that may be emptied once they are past the window, although they are not archived. */
  readonly #givenUp = new Set<number>();
  readonly #recent = new RecentBatches();

  private constructor({ tables, clock }: Options) {
    this.#store = tables;
    this.#clock = clock;
  }

  static async open(options: Options): Promise<RecentLogs> {
    const logs = new RecentLogs(options);
    const lastId = await options.tables.lastId();
    if (isUuidV7(lastId)) logs.#ids.resumeAfter(lastId);
    await logs.#look();
    return logs;
  }

  /** Registers a new run without entries, so that its first entries need no database lookup. */
  begin(runId: string): void {
    this.#progress.set(runId, 0);
  }

  /**
   * Stores the new entries. Resent entries are recognized by their number. When it resolves, all entries up to the last
   * given number are stored, except those of replaced connections; otherwise it rejects. Concurrent calls are not
   * allowed, because entries are stored in the order of their IDs.
   */
  async append(incoming: readonly IncomingEntries[]): Promise<Appended> {
    const runIds = [...new Set(incoming.map(({ stream }) => stream.runId))];
    const appending: Appended = { batches: [], replaced: new Set() };
    try {
      let left = incoming;
      for (let tries = 1; left.length > 0; tries += 1) {
        if (tries > maxTries) throw new Error('other servers store log entries of the same runs');
        left = await this.#tryToAppend(left, appending);
      }
    } catch (error) {
      // The entries may be stored despite the error, so the progress is read again from the database.
      for (const runId of runIds) this.#progress.delete(runId);
      throw error;
    }
    return appending;
  }

  /** Reads the batches of a stream with entries after `from`, oldest first, some at a time. */
  async *read(stream: StreamKey, from: string): AsyncGenerator<readonly StoredBatch[]> {
    const known = this.#recent.find(stream, from);
    if (known.batches.length > 0) yield known.batches;
    let after = known.upTo;
    for (let maxBatches = firstBatches; ; maxBatches = furtherBatches) {
      const found = await this.#find({ stream, after, maxBatches });
      const batches = found.batches.map(withReply);
      this.#recent.add(stream, after, batches);
      if (batches.length > 0) yield batches;
      if (found.isAll) return;
      after = batches.at(-1)?.last_id ?? after;
    }
  }

  async #find(asked: AskedBatches): Promise<Pick<FoundBatches, 'batches' | 'isAll'>> {
    for (;;) {
      if (this.#after(asked.after).length === 0) await this.#look();
      const tables = this.#after(asked.after);
      if (tables.length === 0) return { batches: [], isAll: true };
      const known = this.#tables.at(-1)?.no ?? 0;
      const found = await this.#store.read(tables, asked);
      if (found.newest <= known) return found;
      await this.#look();
    }
  }

  /** Lists the tables that have, or may receive, entries after this ID. */
  #after(id: string): LogTable[] {
    return this.#tables.filter(
      ({ state, last_id: lastId }) => state === 'open' || (state !== 'empty' && lastId > id),
    );
  }

  /** Lists the closed tables that are not archived, oldest first. */
  async listUnkept(): Promise<LogTable[]> {
    await this.#look();
    const open = this.#open;
    if (open !== undefined && this.#isOver(open)) await this.#close(open);
    return this.#tables.filter(({ state, no }) => state === 'closed' && !this.#givenUp.has(no));
  }

  /** Reads all batches of a table, stream by stream, about `stepBytes` at a time. */
  readAll(table: LogTable, stepBytes: number): AsyncIterable<readonly StoredBatch[]> {
    return this.#store.readAll(table, stepBytes);
  }

  /** Marks a table whose entries are archived in the kept logs of their runs. */
  markKept(table: LogTable): Promise<void> {
    return this.#store.markKept(table);
  }

  /** Allows a table to be emptied once it is past the window, although it is not archived. */
  giveUp({ no }: LogTable): void {
    this.#givenUp.add(no);
  }

  /** Whether all entries of the table are older than the window. */
  isPastWindow({ newest, begun_at: begunAt }: LogTable): boolean {
    return Math.max(newest, begunAt) <= this.#clock.now() - logWindowMs;
  }

  /** Empties the tables that are past the window and archived or given up, also on the disk. */
  async expire(): Promise<void> {
    await this.#look();
    const mayGo = ({ state, no }: LogTable): boolean =>
      state === 'kept' || (state === 'closed' && this.#givenUp.has(no));
    // Considers all tables, not only the oldest: a clock that was ahead must not block the tables after it.
    const expired = this.#tables.filter((table) => mayGo(table) && this.isPastWindow(table));
    for (const table of expired) {
      await this.#store.empty(table);
      this.#givenUp.delete(table.no);
    }
    if (expired.length === 0) return;
    this.#recent.clear();
    await this.#look();
  }

  close(): void {
    this.#tables = [];
    this.#store.release();
  }

  get #open(): LogTable | undefined {
    return this.#tables.findLast(({ state }) => state === 'open');
  }

  async #look(): Promise<void> {
    this.#tables = await this.#store.list();
  }

  /** Tries to append entries once. Returns the entries that could not be stored yet. */
  async #tryToAppend(
    incoming: readonly IncomingEntries[],
    { batches: stored, replaced }: Appended,
  ): Promise<IncomingEntries[]> {
    const known = await this.#withProgress(incoming);
    const nowMs = this.#clock.now();
    const table = await this.#current(nowMs);
    const { batches, lastSeqs } = selectNew(known, this.#progress, { ids: this.#ids, nowMs });
    if (batches.length === 0) return [];
    const epochs = new Map(known.map(({ stream, epoch }) => [stream.runId, epoch]));
    const epochOf = (runId: string): number => epochs.get(runId) ?? 0;
    const changes = Array.from(lastSeqs, ([runId, seq]) => ({
      run_id: runId,
      seq,
      epoch: epochOf(runId),
      before: this.#progress.get(runId) ?? 0,
    }));
    const hosts = flushesOf(batches, epochOf);
    const { runIds, lastIds } = await this.#store.append(table, { changes, hosts, batches });
    if (runIds.size === 0) await this.#look();
    for (const [runId, seq] of lastSeqs) {
      if (runIds.has(runId)) this.#progress.set(runId, seq);
      else this.#progress.delete(runId);
    }
    stored.push(...batches.filter(({ stream }) => runIds.has(stream.runId)));
    for (const { epoch } of hosts) if (!lastIds.has(epoch)) replaced.add(epoch);
    const isLeft = ({ stream, epoch }: IncomingEntries): boolean =>
      lastSeqs.has(stream.runId) && !runIds.has(stream.runId) && !replaced.has(epoch);
    const left = known.filter(isLeft);
    // The host may have been connected to another server whose clock is ahead.
    if (left.length > 0) for (const id of lastIds.values()) if (isUuidV7(id)) this.#ids.resumeAfter(id);
    return left;
  }

  /** Looks up the progress of the runs. Drops the entries of deleted runs, which no user may read. */
  async #withProgress(incoming: readonly IncomingEntries[]): Promise<IncomingEntries[]> {
    const isUnknown = ({ stream }: IncomingEntries): boolean => !this.#progress.has(stream.runId);
    const unknown = new Set(incoming.filter(isUnknown).map(({ stream }) => stream.runId));
    if (unknown.size > 0)
      for (const [runId, seq] of await this.#store.progressOf([...unknown])) this.#progress.set(runId, seq);
    return incoming.filter((one) => !isUnknown(one));
  }

  /**
   * Returns the open table. Opens the next one when the minute of this one is over; while no table is empty, this one
   * stays open.
   */
  async #current(nowMs: number): Promise<LogTable> {
    const open = this.#open;
    if (open !== undefined && !this.#isOver(open) && nowMs >= open.begun_at - clocksApartMs) return open;
    if (open !== undefined) await this.#close(open);
    if (this.#open === undefined) {
      await this.#store.open(nowMs);
      await this.#look();
    }
    const current = this.#open;
    if (current === undefined) throw new Error('no table takes log entries');
    return current;
  }

  async #close(open: LogTable): Promise<void> {
    await this.#store.close(open);
    await this.#look();
  }

  #isOver({ begun_at: begunAt }: LogTable): boolean {
    return begunAt + tableMs <= this.#clock.now();
  }
}

const withReply = (batch: StoredBatch): StoredBatch => {
  const reply = replyOf([batch.entries]);
  return { ...batch, entries: entriesIn(reply), reply };
};

/** Returns the first and the last ID of the entries of each connection. */
function flushesOf(batches: readonly LogBatch[], epochOf: (runId: string) => number): HostFlush[] {
  const flushes = new Map<number, HostFlush>();
  for (const { stream, firstId, lastId } of batches) {
    const epoch = epochOf(stream.runId);
    const first = flushes.get(epoch)?.first_id ?? firstId;
    flushes.set(epoch, { epoch, first_id: first, last_id: lastId });
  }
  return [...flushes.values()];
}

/** Number of the last stored entry, by recently logging run. */
type StoredProgress = LRUCache<string, number>;

const createStoredProgress = (): StoredProgress => boundedCache<number>(200_000);

/** Entries that are not stored yet. */
interface NewEntries {
  batches: LogBatch[];
  /** Number of the last entry after the flush, by run. */
  lastSeqs: ReadonlyMap<string, number>;
}

/** Selects the new entries and assigns their IDs, in arrival order. */
function selectNew(
  incoming: readonly IncomingEntries[],
  known: StoredProgress,
  { ids, nowMs }: { ids: IncreasingIds; nowMs: number },
): NewEntries {
  const lastSeqs = new Map<string, number>();
  const batches = incoming.flatMap(({ stream, firstSeq, entries }) => {
    const before = lastSeqs.get(stream.runId) ?? known.get(stream.runId) ?? 0;
    const lastSeq = firstSeq + entries.length - 1;
    if (lastSeq <= before) return [];
    lastSeqs.set(stream.runId, lastSeq);
    const fresh = entries.slice(Math.max(0, before + 1 - firstSeq));
    return encodeBatches(ids, nowMs, stream, { lastSeq, entries: fresh });
  });
  return { batches, lastSeqs };
}
