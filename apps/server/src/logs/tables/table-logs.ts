import { logWindowMs } from '@phalanx/protocol';

import type { Clock } from '../../clock.ts';
import { IncreasingIds, isUuidV7 } from '../../uuid-v7.ts';
import type { LogBatch, StoredBatch } from '../log-batch.ts';
import type { ClosedLogs, IncomingEntries, LogStore, StreamKey } from '../log-store.ts';
import { createStoredProgress, selectNew } from '../stored-progress.ts';
import { ClosedTable } from './closed-table.ts';
import type { LogTable, LogTablesStore } from './log-tables-store.ts';
import { storedBatch } from './stored-batch.ts';

const tableMs = 60_000;
/** Batches that are read at first, and then; most polls find one or two. */
const firstBatches = 20;
const furtherBatches = 100;
/** When others have stored entries of the same runs each time, something is wrong. */
const mostTries = 5;

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

  async append(incoming: readonly IncomingEntries[]): Promise<LogBatch[]> {
    const runIds = [...new Set(incoming.map(({ stream }) => stream.runId))];
    const stored: LogBatch[] = [];
    try {
      let left = incoming;
      for (let tries = 1; left.length > 0; tries += 1) {
        if (tries > mostTries) throw new Error('other servers store log entries of the same runs');
        left = await this.#tryToAppend(left, stored);
      }
    } catch (error) {
      // Whether they are stored, only the database knows.
      for (const runId of runIds) this.#progress.delete(runId);
      throw error;
    }
    return stored;
  }

  async *read(stream: StreamKey, from: string): AsyncGenerator<Iterable<StoredBatch>> {
    let after = from;
    for (let limit = firstBatches; ; limit = furtherBatches) {
      const tables = this.#tables.filter(({ state, last_id: lastId }) => state === 'open' || lastId > after);
      const filled = tables.filter(({ state }) => state !== 'empty');
      if (filled.length === 0) return;
      const rows = await this.#store.read(filled, stream, { from: after, limit });
      yield rows.map(storedBatch);
      if (rows.length < limit) return;
      after = rows.at(-1)?.last_id ?? after;
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
    if (expired.length > 0) await this.#look();
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
  async #tryToAppend(incoming: readonly IncomingEntries[], stored: LogBatch[]): Promise<IncomingEntries[]> {
    const known = await this.#withProgress(incoming);
    const nowMs = this.#clock.now();
    const table = await this.#current(nowMs);
    const { batches, lastSeqs } = selectNew(known, this.#progress, { ids: this.#ids, nowMs });
    if (batches.length === 0) return [];
    const changes = Array.from(lastSeqs, ([runId, seq]) => ({
      ...{ run_id: runId, seq },
      before: this.#progress.get(runId) ?? 0,
    }));
    const runIds = await this.#store.append(table, changes, batches);
    if (runIds.size === 0) await this.#look();
    for (const [runId, seq] of lastSeqs) {
      if (runIds.has(runId)) this.#progress.set(runId, seq);
      else this.#progress.delete(runId);
    }
    stored.push(...batches.filter(({ stream }) => runIds.has(stream.runId)));
    return known.filter(({ stream }) => lastSeqs.has(stream.runId) && !runIds.has(stream.runId));
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
    const isCurrent = open !== undefined && !this.#isOver(open) && nowMs >= open.begun_at;
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
