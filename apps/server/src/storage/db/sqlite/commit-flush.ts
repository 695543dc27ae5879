import { close, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import type Database from 'better-sqlite3';
import { SerialQueue } from '../../../kernel/serial-queue.ts';

/** Value of `PRAGMA synchronous` where nothing has to outlive a loss of power. */
const off = 0;

/** The file that commits are appended to. */
export class WriteAheadLog {
  readonly #sqlite: Database.Database;
  #descriptor: number | undefined;

  constructor(sqlite: Database.Database) {
    this.#sqlite = sqlite;
  }

  async sync(): Promise<void> {
    if (this.#sqlite.pragma('synchronous', { simple: true }) === off) return;
    // The first commit has made it, and it stays the same file for as long as the database is open.
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
  /** The flush that has not begun yet. */
  #next: Promise<void> | undefined;

  constructor(sync: () => Promise<void>) {
    this.#sync = sync;
  }

  /** Resolves when all that was committed before is on the disk. Rejects with what the disk says. */
  flush(): Promise<void> {
    this.#next ??= this.#syncs.run(() => {
      this.#next = undefined;
      return this.#sync();
    });
    return this.#next;
  }

  /** Resolves when no flush is under way any more. */
  whenDone(): Promise<void> {
    return this.#syncs.whenIdle();
  }
}
