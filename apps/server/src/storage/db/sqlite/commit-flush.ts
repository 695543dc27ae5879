import { SerialQueue } from '../../../kernel/serial-queue.ts';

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
