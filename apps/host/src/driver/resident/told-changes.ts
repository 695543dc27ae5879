/** The changes of its screen that a phone has told of, without saying what has changed. */
export class ToldChanges {
  #count = 0;
  readonly #waiting = new Set<() => void>();

  get count(): number {
    return this.#count;
  }

  add(): void {
    this.#count += 1;
    for (const wake of this.#waiting) wake();
  }

  /** Resolves when there are more than so many, when the time is over, and when the signal aborts. */
  async moreThan(count: number, waitMs: number, signal: AbortSignal): Promise<void> {
    if (this.#count > count || signal.aborted || waitMs <= 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    const timer = setTimeout(wake, waitMs);
    this.#waiting.add(wake);
    signal.addEventListener('abort', wake, { once: true });
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(wake);
    signal.removeEventListener('abort', wake);
  }
}
