import type { Clock } from '../../clock.ts';
import { errorCodeOf } from '../../errors/error-code.ts';
import { findFault } from '../../faults/fault.ts';
import type { FaultMonitor } from '../../faults/fault-monitor.ts';
import type { LogTable } from '../tables/log-tables.ts';
import type { RecentLogs } from '../tables/recent-logs.ts';
import { type Archives, keepEntries } from './keep-entries.ts';
import type { ArchiveQuota } from './archive-quota.ts';

const retryMs = 60_000;
/** Entries that are read at a time, without a turn of the event loop. */
const stepBytes = 512 * 1024;

interface Options {
  store: RecentLogs;
  kept: Archives;
  quota: ArchiveQuota;
  clock: Clock;
  faults: FaultMonitor;
}

/** Brings entries to the kept logs of their runs, before they expire. */
export class LogArchiver {
  readonly #options: Options;
  #retryAt = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Keeps what takes no more entries, the oldest first. */
  async keep(): Promise<void> {
    const { store, clock } = this.#options;
    if (clock.now() < this.#retryAt) return;
    for (const table of await store.listUnkept()) {
      if (!(await this.#tryToKeep(table))) return;
    }
  }

  /** Whether the next one may be tried. */
  async #tryToKeep(table: LogTable): Promise<boolean> {
    const { store, kept, quota, clock, faults } = this.#options;
    try {
      await quota.count(await keepEntries(store.readAll(table, stepBytes), kept));
      await store.markKept(table);
      return true;
    } catch (error) {
      const lost = this.#lossOf(table, error);
      faults.report(error, lost ?? 'logs could not be kept; tried again');
      // What could be kept of it, was.
      if (lost !== undefined) store.giveUp(table);
      else this.#retryAt = clock.now() + retryMs;
      return lost !== undefined;
    }
  }

  #lossOf(table: LogTable, error: unknown): string | undefined {
    if (String(errorCodeOf(error)).startsWith('SQLITE_CORRUPT')) return 'a log file is damaged';
    const isFull = findFault(error)?.code === 'storage_full';
    if (!isFull || !this.#options.store.isPastWindow(table)) return undefined;
    return 'a minute of old logs was given up to make room for new ones';
  }
}
