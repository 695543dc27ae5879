import type { Clock } from '../../clock.ts';
import { errorCodeOf } from '../../error-code.ts';
import type { FaultMonitor } from '../../faults/fault-monitor.ts';
import type { LogStore } from '../store.ts';
import { keepSegment } from './keep-segment.ts';
import type { KeptLogs } from './kept-logs.ts';

const retryMs = 60_000;

interface Options {
  store: LogStore;
  kept: KeptLogs;
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

  async #tryToKeep(segment: ReturnType<LogStore['listUnkept']>[number]): Promise<boolean> {
    const { kept, clock, faults } = this.#options;
    try {
      await keepSegment(segment, kept);
      segment.markKept();
      return true;
    } catch (error) {
      const isDamaged = String(errorCodeOf(error)).startsWith('SQLITE_CORRUPT');
      faults.report(error, isDamaged ? 'a log file is damaged' : 'logs could not be kept; tried again');
      // What can be read of it was kept.
      if (isDamaged) segment.isKept = true;
      else this.#retryAt = clock.now() + retryMs;
      return isDamaged;
    }
  }
}
