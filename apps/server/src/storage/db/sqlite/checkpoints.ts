import { SqliteThread } from '@phalanx/sqlite-thread';
import type Database from 'better-sqlite3';
import type { SerialQueue } from '../../../kernel/serial-queue.ts';

/** Length in pages at which the log has to be reset: 64 MB. The database is locked during the reset. */
const maxLoggedPages = 16_000;
/** Number of pages whose checkpoint is too short to notice: 4 MB. */
const fewPages = 1000;
const maxRounds = 5;
/** Delay of a checkpoint in ms; commits within it are checkpointed together. */
const pauseMs = 1000;
/** Minimum number of changed rows for a checkpoint, because the first write after a complete one costs a flush. */
const minChanges = 5000;

/** Row of the checkpoint statement; `log` is the length of the log, in pages. */
interface Checkpoint {
  readonly log: number;
}
const checkpoint = { text: 'PRAGMA wal_checkpoint(PASSIVE)' };

/**
 * Runs checkpoints in a separate thread. A checkpoint moves what was committed from the write-ahead log into the
 * database file, which takes several disk flushes.
 */
export class Checkpoints {
  readonly #thread: SqliteThread;
  /** Queue of the holders of the writing connection. */
  readonly #holders: SerialQueue;
  readonly #countChanges: Database.Statement;
  #changesBefore: unknown;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(sqlite: Database.Database, holders: SerialQueue) {
    this.#thread = new SqliteThread({ file: sqlite.name, readonly: false });
    this.#holders = holders;
    sqlite.pragma('wal_autocheckpoint = 0');
    this.#countChanges = sqlite.prepare('SELECT total_changes()').pluck();
    this.#changesBefore = this.#countChanges.get();
  }

  noteCommit(): void {
    this.#timer ??= setTimeout(() => {
      this.#running = this.#work().finally(() => (this.#timer = undefined));
    }, pauseMs).unref();
  }

  /** Resolves when the thread has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
    await this.#thread.close();
  }

  async #work(): Promise<void> {
    const changes = this.#countChanges.get();
    if (Number(changes) - Number(this.#changesBefore) < minChanges) return;
    this.#changesBefore = changes;
    const loggedPages = await this.#bringIn();
    if (loggedPages >= maxLoggedPages) await this.#beginAnew(loggedPages);
  }

  /**
   * Repeats checkpoints until few new pages have arrived, then runs the last one while nobody holds the connection.
   * Otherwise, constant writes would never let the log restart.
   */
  async #beginAnew(before: number): Promise<void> {
    let loggedPages = before;
    for (let round = 1; round < maxRounds; round += 1) {
      const now = await this.#bringIn();
      if (now - loggedPages < fewPages) break;
      loggedPages = now;
    }
    if (this.#isClosed) return;
    await this.#holders.run(() => this.#bringIn());
  }

  /** Runs a checkpoint. Returns the length of the log after it, in pages. */
  async #bringIn(): Promise<number> {
    try {
      const [row] = await this.#thread.run<Checkpoint>(checkpoint);
      return row?.log ?? 0;
    } catch {
      // The disk or the memory is full. The log keeps its pages, and the next write reports the problem.
      return 0;
    }
  }
}
