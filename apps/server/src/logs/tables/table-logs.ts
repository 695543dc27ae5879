import { logWindowMs } from '@phalanx/protocol';

import type { Clock } from '../../clock.ts';
import { askTogether } from '../../db/ask-together.ts';
import { IncreasingIds, isUuidV7 } from '../../uuid-v7.ts';
import type { LogBatch, StoredBatch } from '../log-batch.ts';
import type { Appended, ClosedLogs, IncomingEntries, LogStore, StreamKey } from '../log-store.ts';
import { createStoredProgress, selectNew } from '../stored-progress.ts';
import { ClosedTable } from './closed-table.ts';
import type { AskedBatches, BatchRow, HostFlush, LogTable, LogTablesStore } from './log-tables-store.ts';
import { RecentBatches } from './recent-batches.ts';
import { storedBatch } from './stored-batch.ts';

const tableMs = 60_000;
/** The clock of the server that has begun a table may be ahead by so much. */
const clocksApartMs = 5000;
/** Batches that are read at first, and then; most polls find one or two. */
const firstBatches = 20;
const furtherBatches = 100;
/** When others have stored entries of the same runs each time, something is wrong. */
const mostTries = 5;

interface Appending {
  batches: LogBatch[];
  replaced: Set<number>;
}

interface Options {
  store: LogTablesStore;
  clock: Clock;
}

/** In PostgreSQL: about a minute of entries a table, which is emptied as a whole when they have expired. */
export class TableLogs implements LogStore {
  readonly #store: LogTablesStore;
  readonly #clock: Clock;
  readonly #ids = new IncreasingIds();
  readonly #progress = createStoredProgress();
  /** By their numbers. */
  #tables: readonly LogTable[] = [];
  readonly #closed = new Map<number, ClosedTable>();
  readonly #recent = new RecentBatches();
  readonly #read = askTogether((asked: readonly AskedBatches[]) => this.#readTogether(asked));

  private constructor({ store, clock }: Options) {
    this.#store = store;
    this.#clock = clock;
  }

  static async open(options: Options): Promise<TableLogs> {
    const logs = new TableLogs(options);
    const lastId = await options.store.lastId();
    if (isUuidV7(lastId)) logs.#ids.resumeAfter(lastId);
    await logs.#look();
    return logs;
  }

  begin(runId: string): void {
    this.#progress.set(runId, 0);
  }

  /** The runs of a whole flush are looked up together. */
  async findProgress(): Promise<void> {}

  async append(incoming: readonly IncomingEntries[]): Promise<Appended> {
    const runIds = [...new Set(incoming.map(({ stream }) => stream.runId))];
    const appending: Appending = { batches: [], replaced: new Set() };
    try {
      let left = incoming;
      for (let tries = 1; left.length > 0; tries += 1) {
        if (tries > mostTries) throw new Error('other servers store log entries of the same runs');
        left = await this.#tryToAppend(left, appending);
      }
    } catch (error) {
      // Whether they are stored, only the database knows.
      for (const runId of runIds) this.#progress.delete(runId);
      throw error;
    }
    return appending;
  }

  async *read(stream: StreamKey, from: string): AsyncGenerator<Iterable<StoredBatch>> {
    const known = this.#recent.find(stream, from);
    if (known.batches.length > 0) yield known.batches;
    let after = known.upTo;
    for (let most = firstBatches; ; most = furtherBatches) {
      const rows = await this.#read({ stream, after, most });
      const batches = rows.map(storedBatch);
      this.#recent.add(stream, after, batches);
      yield batches;
      if (batches.length < most) return;
      after = batches.at(-1)?.last_id ?? after;
    }
  }

  async #readTogether(asked: readonly AskedBatches[]): Promise<BatchRow[][]> {
    const from = asked.map(({ after }) => after).toSorted()[0] ?? '';
    if (this.#open === undefined) await this.#look();
    for (;;) {
      const known = this.#tables.at(-1)?.no ?? 0;
      const filled = this.#tables.filter(
        ({ state, last_id: lastId }) => state === 'open' || (state !== 'empty' && lastId > from),
      );
      if (filled.length === 0) return asked.map(() => []);
      const { batches, newest } = await this.#store.read(filled, asked);
      if (newest <= known) return batches;
      await this.#look();
    }
  }

  async listUnkept(): Promise<ClosedLogs[]> {
    await this.#look();
    const open = this.#open;
    if (open !== undefined && this.#isOver(open)) await this.#rotate(open);
    return this.#tables
      .filter(({ state }) => state === 'closed')
      .map((table) => this.#closedOf(table))
      .filter(({ isGivenUp }) => !isGivenUp);
  }

  isPastWindow(logs: ClosedLogs): boolean {
    return logs instanceof ClosedTable && this.#isPastWindow(logs.table);
  }

  async expire(): Promise<void> {
    await this.#look();
    const isOver = (table: LogTable): boolean =>
      table.state === 'kept' || (table.state === 'closed' && this.#closedOf(table).isGivenUp);
    // Any of them, not only the oldest: a clock that was ahead must not keep what came after it.
    const expired = this.#tables.filter((table) => isOver(table) && this.#isPastWindow(table));
    for (const table of expired) {
      await this.#store.empty(table);
      this.#closed.delete(table.no);
    }
    if (expired.length === 0) return;
    this.#recent.clear();
    await this.#look();
  }

  close(): void {
    this.#tables = [];
  }

  get #open(): LogTable | undefined {
    return this.#tables.findLast(({ state }) => state === 'open');
  }

  async #look(): Promise<void> {
    this.#tables = await this.#store.list();
  }

  /** Returns those that could not be stored yet. */
  async #tryToAppend(
    incoming: readonly IncomingEntries[],
    { batches: stored, replaced }: Appending,
  ): Promise<IncomingEntries[]> {
    const known = await this.#withProgress(incoming);
    const nowMs = this.#clock.now();
    const table = await this.#current(nowMs);
    const { batches, lastSeqs } = selectNew(known, this.#progress, { ids: this.#ids, nowMs });
    if (batches.length === 0) return [];
    const epochs = new Map(known.map(({ stream, epoch }) => [stream.runId, epoch]));
    const epochOf = (runId: string): number => epochs.get(runId) ?? 0;
    const changes = Array.from(lastSeqs, ([runId, seq]) => ({
      ...{ run_id: runId, seq, epoch: epochOf(runId) },
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
    // Another server, whose clock is ahead, may have had the host.
    if (left.length > 0) for (const id of lastIds.values()) if (isUuidV7(id)) this.#ids.resumeAfter(id);
    return left;
  }

  /** Those of runs that are still there: nobody may read the others. */
  async #withProgress(incoming: readonly IncomingEntries[]): Promise<IncomingEntries[]> {
    const isUnknown = ({ stream }: IncomingEntries): boolean => !this.#progress.has(stream.runId);
    const unknown = new Set(incoming.filter(isUnknown).map(({ stream }) => stream.runId));
    if (unknown.size > 0)
      for (const [runId, seq] of await this.#store.progressOf([...unknown])) this.#progress.set(runId, seq);
    return incoming.filter((one) => !isUnknown(one));
  }

  /** Takes the next table when the minute of this one is over; as long as none is empty, it goes on. */
  async #current(nowMs: number): Promise<LogTable> {
    const open = this.#open;
    const isCurrent = open !== undefined && !this.#isOver(open) && nowMs >= open.begun_at - clocksApartMs;
    if (!isCurrent) await this.#rotate(open);
    const current = this.#open;
    if (current === undefined) throw new Error('no table takes log entries');
    return current;
  }

  async #rotate(open: LogTable | undefined): Promise<void> {
    await this.#store.rotate(open, this.#clock.now());
    await this.#look();
  }

  #closedOf(table: LogTable): ClosedTable {
    const closed = this.#closed.get(table.no) ?? new ClosedTable(table, this.#store);
    this.#closed.set(table.no, closed);
    return closed;
  }

  #isOver({ begun_at: begunAt }: LogTable): boolean {
    return begunAt + tableMs <= this.#clock.now();
  }

  #isPastWindow({ newest, begun_at: begunAt }: LogTable): boolean {
    return Math.max(newest, begunAt) <= this.#clock.now() - logWindowMs;
  }
}

/** The first and the last ID that each connection's entries are given. */
function flushesOf(batches: readonly LogBatch[], epochOf: (runId: string) => number): HostFlush[] {
  const flushes = new Map<number, HostFlush>();
  for (const { stream, firstId, lastId } of batches) {
    const epoch = epochOf(stream.runId);
    const first = flushes.get(epoch)?.first_id ?? firstId;
    flushes.set(epoch, { epoch, first_id: first, last_id: lastId });
  }
  return [...flushes.values()];
}
