/**
 * Flushes of the disk that commits of one moment share. SQLite's own would stop the event loop, and with it everybody who
 * only reads.
 */
export class CommitFlush {
  readonly #sync: () => Promise<void>;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(sync: () => Promise<void>) {
    this.#sync = sync;
  }

  /** Resolves when all that was committed before is on the disk. Rejects with what the disk says. */
  flush(): Promise<void> {
    this.#next ??= this.#running.catch(() => undefined).then(() => this.#begin());
    return this.#next;
  }

  /** Resolves when nothing is under way any more. */
  async whenDone(): Promise<void> {
    await (this.#next ?? this.#running).catch(() => undefined);
  }

  #begin(): Promise<void> {
    this.#running = this.#next ?? this.#running;
    this.#next = undefined;
    return this.#sync();
  }
}
