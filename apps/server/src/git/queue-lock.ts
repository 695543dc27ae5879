/** One at a time, in the order of asking. */
export class QueueLock {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  get isFree(): boolean {
    return this.#waiting === 0;
  }

  /** Resolves when it is this one's turn, with the function that ends it. */
  async acquire(): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    this.#waiting += 1;
    await before;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#waiting -= 1;
      resolve();
    };
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    const release = await this.acquire();
    try {
      return await work();
    } finally {
      release();
    }
  }
}
