import { close, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import type Database from 'better-sqlite3';

/** Value of `PRAGMA synchronous` for a database that need not survive a power loss. */
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
    // The first commit has created the file, which stays the same while the database is open.
    this.#descriptor ??= openSync(`${this.#sqlite.name}-wal`, 'r+');
    await promisify(fdatasync)(this.#descriptor);
  }

  async close(): Promise<void> {
    if (this.#descriptor !== undefined) await promisify(close)(this.#descriptor);
  }
}
