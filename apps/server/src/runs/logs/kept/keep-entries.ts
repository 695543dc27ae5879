import { setImmediate as nextTurn } from 'node:timers/promises';
import { type EntryKind, entrySeparator, kindOf, runIdOf, type StoredBatch } from '../log-batch.ts';
import { backoffMs } from '@phalanx/timing/backoff';
import type { Clock } from '../../../kernel/clock.ts';
import { minuteMs } from '@phalanx/timing/durations';
import { errorCodeOf } from '../../../kernel/errors/api-error.ts';
import { findFault, type FaultMonitor } from '../../../kernel/faults/fault-monitor.ts';
import type { LogTable } from '../tables/log-tables.ts';
import type { RecentLogs } from '../tables/recent-logs.ts';
import type { NewChunk } from './kept-chunk-store.ts';
import type { ArchivedLogs } from './archived-logs.ts';
import type { ArchiveQuota } from './archive-quota.ts';

/** Uncompressed size of the entries of one chunk, in bytes. */
const chunkBytes = 256 * 1024;
/** Number of runs whose chunks are compressed concurrently and stored together. */
const runsAtOnce = 32;

/** Retry backoff without jitter, because only one server archives at a time. A retry reads the table from its start. */
const retry = { firstMs: 10_000, maxMs: minuteMs, jitter: 0 };
/** Bytes of entries read at a time without yielding to the event loop. */
const stepBytes = 512 * 1024;

interface Part {
  batches: StoredBatch[];
  sizeBytes: number;
}

/** Archives of the entries, by kind. */
export type Archives = Readonly<Record<EntryKind, ArchivedLogs>>;

/**
 * Adds all batches of a table to the kept logs and traces of their runs, a few at a time. Idempotent: it can be
 * repeated from the start. Returns the IDs of the runs.
 */
export async function keepEntries(
  batchSteps: AsyncIterable<readonly StoredBatch[]>,
  kept: Archives,
): Promise<string[]> {
  const archivers = { log: new EntryArchiver(kept.log), trace: new EntryArchiver(kept.trace) };
  for await (const batches of batchSteps) {
    for (const batch of batches) await archivers[kindOf(batch.entries)].take(batch);
    await nextTurn();
  }
  for (const archiver of Object.values(archivers)) await archiver.finish();
  return [...new Set(Object.values(archivers).flatMap(({ runIds }) => runIds))];
}

/** Archives entries of one kind. */
class EntryArchiver {
  readonly #kept: ArchivedLogs;
  /** ID of the last kept entry, by run. */
  readonly #lastIds = new Map<string, string>();
  readonly #parts = new Map<string, Part>();

  constructor(kept: ArchivedLogs) {
    this.#kept = kept;
  }

  get runIds(): string[] {
    return [...this.#lastIds.keys()];
  }

  async take(batch: StoredBatch): Promise<void> {
    const runId = runIdOf(batch.entries);
    if (runId === undefined) return;
    const lastId = this.#lastIds.get(runId) ?? (await this.#kept.lastIdOf(runId));
    this.#lastIds.set(runId, lastId);
    if (batch.last_id <= lastId) return;
    const isFull = this.#add(runId, batch) >= chunkBytes;
    if (isFull || this.#parts.size >= runsAtOnce) await this.finish();
  }

  /** Appends the waiting entries to the kept logs. */
  async finish(): Promise<void> {
    const chunks = new Map(Array.from(this.#parts, ([runId, { batches }]) => [runId, chunkOf(batches)]));
    this.#parts.clear();
    if (chunks.size === 0) return;
    await this.#kept.append(chunks);
    for (const [runId, { last_id: lastId }] of chunks) this.#lastIds.set(runId, lastId);
  }

  /** Adds a batch to the next chunk of its run. Returns the size of that chunk, in bytes. */
  #add(runId: string, batch: StoredBatch): number {
    const part = this.#parts.get(runId) ?? { batches: [], sizeBytes: 0 };
    this.#parts.set(runId, part);
    part.batches.push(batch);
    return (part.sizeBytes += batch.entries.length);
  }
}

const separator = Buffer.from(entrySeparator);

function chunkOf(batches: readonly StoredBatch[]): NewChunk {
  const texts = batches.flatMap(({ entries }, index) => (index === 0 ? [entries] : [separator, entries]));
  return {
    last_id: batches.at(-1)?.last_id ?? '',
    count: batches.reduce((sum, { count }) => sum + count, 0),
    entries: Buffer.concat(texts),
  };
}

interface Options {
  store: RecentLogs;
  kept: Archives;
  quota: ArchiveQuota;
  clock: Clock;
  faults: FaultMonitor;
}

/** Archives entries to the kept logs of their runs before they expire. */
export class LogArchiver {
  readonly #options: Options;
  #failures = 0;
  #retryAt = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Archives the closed tables, oldest first. */
  async keep(): Promise<void> {
    const { store, clock } = this.#options;
    if (clock.now() < this.#retryAt) return;
    for (const table of await store.listUnkept()) {
      if (!(await this.#tryToKeep(table))) return;
    }
  }

  /** Tries to archive a table. Returns whether the next table may be tried. */
  async #tryToKeep(table: LogTable): Promise<boolean> {
    const { store, kept, quota, faults } = this.#options;
    try {
      await quota.enforce(await keepEntries(store.readAll(table, stepBytes), kept));
      await store.markKept(table);
      this.#failures = 0;
      return true;
    } catch (error) {
      const lost = this.#lossOf(table, error);
      faults.report(error, lost ?? 'logs could not be stored; retrying');
      // All entries of the table that could be archived already are.
      if (lost !== undefined) store.giveUp(table);
      else this.#retryLater();
      return lost !== undefined;
    }
  }

  #retryLater(): void {
    this.#failures += 1;
    this.#retryAt = this.#options.clock.now() + backoffMs(retry, this.#failures);
  }

  #lossOf(table: LogTable, error: unknown): string | undefined {
    if (String(errorCodeOf(error)).startsWith('SQLITE_CORRUPT')) return 'a log file is damaged';
    const isFull = findFault(error)?.code === 'storage_full';
    if (!isFull || !this.#options.store.isPastWindow(table)) return undefined;
    return 'a minute of old logs was dropped to make room for new ones';
  }
}
