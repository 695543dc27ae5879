import type { Clock } from '../../clock.ts';
import { errorCodeOf } from '../../error-code.ts';
import { findFault } from '../../faults/fault.ts';
import type { FaultMonitor } from '../../faults/fault-monitor.ts';
import type { LogSegment } from '../segment-store.ts';
import type { LogStore } from '../store.ts';
import { keepSegment } from './keep-segment.ts';
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

/** Brings what the segments hold to the kept logs of the runs, before the segments expire. */
export class LogKeeper {
  readonly #options: Options;
  #retryAt = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Keeps the segments that take no more entries, the oldest first. */
  async keep(): Promise<void> {
    const { store, clock } = this.#options;
    if (clock.now() < this.#retryAt) return;
    for (const segment of store.listUnkept()) {
      if (!(await this.#tryToKeep(segment))) return;
    }
  }

  /** Whether the next one may be tried. */
  async #tryToKeep(segment: LogSegment): Promise<boolean> {
    const { kept, quota, clock, faults } = this.#options;
    try {
      await quota.count(await keepSegment(segment, kept));
      segment.markKept();
      return true;
    } catch (error) {
      const lost = this.#lossOf(segment, error);
      faults.report(error, lost ?? 'logs could not be kept; tried again');
      // What could be kept of it, was.
      if (lost !== undefined) segment.isKept = true;
      else this.#retryAt = clock.now() + retryMs;
      return lost !== undefined;
    }
  }

  #lossOf(segment: LogSegment, error: unknown): string | undefined {
    if (String(errorCodeOf(error)).startsWith('SQLITE_CORRUPT')) return 'a log file is damaged';
    const isFull = findFault(error)?.code === 'storage_full';
    if (!isFull || !this.#options.store.isPastWindow(segment)) return undefined;
    return 'a minute of old logs was given up to make room for new ones';
  }
}
