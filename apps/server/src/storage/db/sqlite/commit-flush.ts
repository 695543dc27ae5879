import { close, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import type Database from 'better-sqlite3';
import { SerialQueue } from '../../../kernel/serial-queue.ts';

/** Value of `PRAGMA synchronous` for a database that need not outlive a loss of power. */
const off = 0;

/** Write-ahead log, to which commits are appended. */
export class WriteAheadLog {
  readonly #sqlite: Database.Database;
  #descriptor: number | undefined;

  constructor(sqlite: Database.Database) {
    this.#sqlite = sqlite;
  }

  async sync(): Promise<void> {
    if (this.#sqlite.pragma('synchronous', { simple: true }) === off) return;
    // The first commit has created the file, which stays the same for as long as the database is open.
    this.#descriptor ??= openSync(`${this.#sqlite.name}-wal`, 'r+');
    await promisify(fdatasync)(this.#descriptor);
  }

  async close(): Promise<void> {
    if (this.#descriptor !== undefined) await promisify(close)(this.#descriptor);
  }
}

/**
 * Flushes of the disk that commits of one moment share. SQLite's own flushes would stop the event loop, and with it all
 * requests that only read.
 */
export class CommitFlush {
  readonly #sync: () => Promise<void>;
  readonly #syncs = new SerialQueue();
  /** Flush that has not begun yet. */
  #next: Promise<void> | undefined;

  constructor(sync: () => Promise<void>) {
    this.#sync = sync;
  }

  /** Resolves when all earlier commits are on the disk. Rejects with the error of the disk. */
  flush(): Promise<void> {
    this.#next ??= this.#syncs.run(() => {
      this.#next = undefined;
      return this.#sync();
    });
    return this.#next;
  }

  /** Resolves when no flush is in progress. */
  whenDone(): Promise<void> {
    return this.#syncs.whenIdle();
  }
}
