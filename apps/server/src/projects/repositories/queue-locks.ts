/** Locks by name: one holder at a time, in the order of asking. */
export class QueueLocks {
  readonly #last = new Map<string, Promise<void>>();

  /** Resolves when it is this one's turn, with the function that ends it: call that once, on every path. */
  async acquire(name: string): Promise<() => void> {
    const before = this.#last.get(name);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last.set(name, promise);
    await before;
    return () => {
      if (this.#last.get(name) === promise) this.#last.delete(name);
      resolve();
    };
  }
}
