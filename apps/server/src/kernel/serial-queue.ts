/** Runs tasks one after the other, in the order in which they were added. */
export class SerialQueue {
  readonly #waiting: (() => void)[] = [];
  #isTaken = false;

  /** Runs `work` after all earlier work has ended, even with an error. Resolves or rejects as `work` does. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.take();
    try {
      return await work();
    } finally {
      this.release();
    }
  }

  /** Resolves when all earlier work has ended. Later work waits for `release`. */
  async take(): Promise<void> {
    if (this.#isTaken) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#isTaken = true;
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#isTaken = false;
    else next();
  }

  /** Resolves when all work added so far has ended. */
  async whenIdle(): Promise<void> {
    await this.run(async () => undefined);
  }
}
