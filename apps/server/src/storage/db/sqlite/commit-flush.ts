import { SerialQueue } from '../../../kernel/serial-queue.ts';

/**
 * Shares disk flushes among concurrent commits. SQLite's own flushes would block the event loop, and with it all
 * requests that only read.
 */
export class CommitFlush {
  readonly #sync: () => Promise<void>;
  readonly #syncs = new SerialQueue();
  /** Flush that has not started yet. */
  #next: Promise<void> | undefined;

  constructor(sync: () => Promise<void>) {
    this.#sync = sync;
  }

  /** Resolves when all earlier commits are on disk. Rejects with the error of the disk. */
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
