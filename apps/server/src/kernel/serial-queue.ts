/** Runs one piece of work after the other, in the order in which they were given. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` when all that was given before has ended, also with an error. Resolves or rejects as `work` does. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Resolves when all that was given until now has ended. */
  async whenIdle(): Promise<void> {
    await this.#last;
  }
}
