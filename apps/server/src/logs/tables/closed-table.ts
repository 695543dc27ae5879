import type { StoredBatch } from '../log-batch.ts';
import { runIdOf } from '../log-batch.ts';
import type { ClosedLogs } from '../log-store.ts';
import type { LogTable, LogTablesStore, PlacedRow } from './log-tables-store.ts';
import { storedBatch } from './stored-batch.ts';

/** A batch of a host that sends often has some 10 KB. */
const expectedBatchBytes = 10 * 1024;

export class ClosedTable implements ClosedLogs {
  readonly table: LogTable;
  readonly #store: LogTablesStore;
  readonly #progress = new Map<string, number>();
  isGivenUp = false;

  constructor(table: LogTable, store: LogTablesStore) {
    this.table = table;
    this.#store = store;
  }

  async *readAll(stepBytes: number): AsyncGenerator<StoredBatch[]> {
    const limit = Math.ceil(stepBytes / expectedBatchBytes);
    for (let rows: PlacedRow[] = []; ;) {
      rows = await this.#store.readOn(this.table, rows.at(-1), limit);
      yield rows.map((row) => this.#note(row));
      if (rows.length < limit) return;
    }
  }

  progressOf(runId: string): number {
    return this.#progress.get(runId) ?? 0;
  }

  markKept(): Promise<void> {
    return this.#store.markKept(this.table);
  }

  giveUp(): void {
    this.isGivenUp = true;
  }

  #note(row: PlacedRow): StoredBatch {
    const batch = storedBatch(row);
    const runId = runIdOf(batch.entries);
    if (runId !== undefined) this.#progress.set(runId, row.last_seq);
    return batch;
  }
}
