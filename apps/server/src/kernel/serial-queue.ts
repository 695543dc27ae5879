/** Lets one piece of work run after the other, in the order in which they came. */
export class SerialQueue {
  readonly #waiting: (() => void)[] = [];
  #isTaken = false;

  /** Runs `work` when all that came before has ended, also with an error. Resolves or rejects as `work` does. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.take();
    try {
      return await work();
    } finally {
      this.release();
    }
  }

  /** Resolves when all that came before has ended. All that comes later waits for `release`. */
  async take(): Promise<void> {
    if (this.#isTaken) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#isTaken = true;
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#isTaken = false;
    else next();
  }

  /** Resolves when all that came until now has ended. */
  async whenIdle(): Promise<void> {
    await this.run(async () => undefined);
  }
}
