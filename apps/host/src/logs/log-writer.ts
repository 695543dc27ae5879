import type { Logger } from 'pino';
import type { LogLimits } from './log-limits.ts';
import type { LogTable } from './log-table.ts';
import type { SpooledLog } from './spooled-log.ts';
import { pause } from '../time/time-limit.ts';

interface LogWriterOptions {
  readonly table: LogTable;
  readonly limits: Pick<LogLimits, 'diskRetryMs'>;
  readonly log: Logger;
}

/**
 * Writes the logs of all runs to disk, so that they survive a killed host. No run waits for it. What changes during one
 * write goes into the next one, in one transaction. While the disk refuses, the entries are only in memory.
 */
export class LogWriter {
  readonly #options: LogWriterOptions;
  readonly #changed = new Set<SpooledLog>();
  #writing: Promise<void> | undefined;
  #isFailing = false;
  readonly #closed = new AbortController();

  constructor(options: LogWriterOptions) {
    this.#options = options;
  }

  /** Schedules a write of what has changed in the log. */
  offer(log: SpooledLog): void {
    this.#changed.add(log);
    this.#writing ??= this.#write();
  }

  withdraw(log: SpooledLog): void {
    this.#changed.delete(log);
  }

  /** Resolves when everything is on disk, or when the disk refuses it. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#writing;
  }

  async #write(): Promise<void> {
    // Changes of one turn of the event loop are one transaction.
    await new Promise(setImmediate);
    while (this.#changed.size > 0) {
      const logs = [...this.#changed];
      this.#changed.clear();
      const isDone = await this.#writeChanges(logs);
      for (const log of logs) if (!log.isOnDisk) this.#changed.add(log);
      if (isDone) continue;
      if (this.#closed.signal.aborted) break;
      await pause(this.#options.limits.diskRetryMs, this.#closed.signal);
    }
    this.#writing = undefined;
  }

  /** Returns false when the disk refuses. */
  async #writeChanges(logs: readonly SpooledLog[]): Promise<boolean> {
    const changes = logs.filter((log) => !log.isOnDisk).map((log) => ({ log, change: log.unwritten() }));
    if (changes.length === 0) return true;
    try {
      await this.#options.table.write(changes.map(({ change }) => change));
    } catch (error) {
      this.#tellFailure(error);
      return false;
    }
    this.#isFailing = false;
    for (const { log, change } of changes) log.written(change);
    return true;
  }

  #tellFailure(error: unknown): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#options.log.error(
      { err: error },
      'Logs can not be written to disk; they are kept in memory only. Is the disk full?',
    );
  }
}
