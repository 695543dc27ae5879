import type { Clock } from '../../clock.ts';
import { errorCodeOf } from '../../error-code.ts';
import { findFault } from '../../faults/fault.ts';
import type { FaultMonitor } from '../../faults/fault-monitor.ts';
import type { ClosedLogs, LogStore } from '../log-store.ts';
import { keepEntries } from './keep-entries.ts';
import type { KeptLogs } from './kept-logs.ts';
import type { KeptQuota } from './kept-quota.ts';

const retryMs = 60_000;

interface Options {
  store: LogStore;
  kept: KeptLogs;
  quota: KeptQuota;
  clock: Clock;
  faults: FaultMonitor;
}

/** Brings entries to the kept logs of their runs, before they expire. */
export class LogKeeper {
  readonly #options: Options;
  #retryAt = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Keeps what takes no more entries, the oldest first. */
  async keep(): Promise<void> {
    const { store, clock } = this.#options;
    if (clock.now() < this.#retryAt) return;
    for (const logs of await store.listUnkept()) {
      if (!(await this.#tryToKeep(logs))) return;
    }
  }

  /** Whether the next one may be tried. */
  async #tryToKeep(logs: ClosedLogs): Promise<boolean> {
    const { kept, quota, clock, faults } = this.#options;
    try {
      await quota.count(await keepEntries(logs, kept));
      await logs.markKept();
      return true;
    } catch (error) {
      const lost = this.#lossOf(logs, error);
      faults.report(error, lost ?? 'logs could not be kept; tried again');
      // What could be kept of it, was.
      if (lost !== undefined) logs.giveUp();
      else this.#retryAt = clock.now() + retryMs;
      return lost !== undefined;
    }
  }

  #lossOf(logs: ClosedLogs, error: unknown): string | undefined {
    if (String(errorCodeOf(error)).startsWith('SQLITE_CORRUPT')) return 'a log file is damaged';
    const isFull = findFault(error)?.code === 'storage_full';
    if (!isFull || !this.#options.store.isPastWindow(logs)) return undefined;
    return 'a minute of old logs was given up to make room for new ones';
  }
}
