/** What somebody at the keyboard wants, or a save. */
export type Wish = 'saved' | 'run' | 'stop' | 'hand' | 'quit';

/** Wishes in their order, each kind once. */
export class Wishes {
  readonly #waiting: Wish[] = [];
  #arrival = Promise.withResolvers<void>();

  add(wish: Wish): void {
    if (!this.#waiting.includes(wish)) this.#waiting.push(wish);
    this.#arrival.resolve();
  }

  /** Resolves when there is one, and leaves it there. */
  async some(): Promise<void> {
    await this.#arrival.promise;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Whether something is wanted that goes on with something else. */
  get isGoingOn(): boolean {
    return this.#waiting.some((wish) => wish !== 'stop');
  }

  /** Who wants to quit waits for nothing that was wanted before. */
  async next(): Promise<Wish> {
    await this.some();
    const wish = this.#waiting.includes('quit') ? 'quit' : this.#waiting.shift();
    if (this.isEmpty) this.#arrival = Promise.withResolvers<void>();
    return wish ?? 'quit';
  }
}
