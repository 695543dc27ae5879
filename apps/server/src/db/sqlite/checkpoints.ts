import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

import type Database from 'better-sqlite3';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

/** A log this long has to end for once, so that it begins anew: 64 MB. Nobody uses the database meanwhile. */
const mostLoggedPages = 16_000;
/** What nobody notices: 4 MB. */
const fewPages = 1000;
const mostRounds = 5;
/** What is written within that is brought in together. */
const pauseMs = 1000;
/** Fewer changed rows are not worth it: who writes next in a log that was brought in whole has to flush its new head. */
const leastChanges = 5000;

/** What an event brings. */
const answers = Compile(Type.Tuple([Type.Number()]));

/**
 * Has what was committed brought from the write-ahead log into the database file, which takes several flushes of the
 * disk, by a thread of its own.
 */
export class Checkpoints {
  readonly #sqlite: Database.Database;
  readonly #lock: ConnectionLock;
  readonly #countChanges: Database.Statement;
  #changesBefore: unknown;
  #thread: Worker | undefined;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(sqlite: Database.Database, lock: ConnectionLock) {
    this.#sqlite = sqlite;
    this.#lock = lock;
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
    if (this.#thread === undefined) return;
    const ended = once(this.#thread, 'exit');
    this.#thread.ref();
    this.#thread.postMessage('close');
    await ended;
  }

  async #work(): Promise<void> {
    const changes = this.#countChanges.get();
    if (Number(changes) - Number(this.#changesBefore) < leastChanges) return;
    this.#changesBefore = changes;
    const loggedPages = await this.#bringIn();
    if (loggedPages >= mostLoggedPages) await this.#beginAnew(loggedPages);
  }

  /** Who writes all the time never lets the log end: what has come meanwhile is brought in until it is little. */
  async #beginAnew(before: number): Promise<void> {
    let loggedPages = before;
    for (let round = 1; round < mostRounds; round += 1) {
      const now = await this.#bringIn();
      if (now - loggedPages < fewPages) break;
      loggedPages = now;
    }
    if (this.#isClosed) return;
    await this.#lock.take();
    try {
      await this.#bringIn();
    } finally {
      this.#lock.release();
    }
  }

  /** Returns the length of the log when it began. A thread that has failed is followed by another one. */
  async #bringIn(): Promise<number> {
    const thread = (this.#thread ??= this.#startThread());
    try {
      const answered = once(thread, 'message');
      thread.postMessage('bring in');
      const answer: unknown = await answered;
      if (answers.Check(answer)) return answer[0];
    } catch {
      // The disk or the memory has no more; what is in the log can wait there.
    }
    return 0;
  }

  #startThread(): Worker {
    const file = new URL('checkpoint-thread.ts', import.meta.url);
    const thread = new Worker(file, { workerData: this.#sqlite.name });
    thread.unref();
    return thread.on('error', () => (this.#thread = undefined));
  }
}

/** One at a time, in the order in which they come. */
export class ConnectionLock {
  readonly #waiting: (() => void)[] = [];
  #isHeld = false;

  async take(): Promise<void> {
    if (this.#isHeld) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#isHeld = true;
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#isHeld = false;
    else next();
  }
}
