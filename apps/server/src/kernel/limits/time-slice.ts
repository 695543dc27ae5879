import { setImmediate as nextTurn } from 'node:timers/promises';

/** Slice that is too short to notice; a turn of the event loop costs some microseconds. */
const sliceMs = 5;

/** Work on the event loop that gives it back to others now and then. Many may share one: together they take its time. */
export class TimeSlice {
  #since = performance.now();
  #next: Promise<void> | undefined;

  get isOver(): boolean {
    return performance.now() - this.#since >= sliceMs;
  }

  /** Does work that yields every few milliseconds. Others have their turn whenever the slice is over. */
  async run<Result>(work: Iterator<unknown, Result>): Promise<Result> {
    for (;;) {
      const { done, value } = work.next();
      if (done === true) return value;
      if (this.isOver) await this.next();
    }
  }

  /**
   * Lets others have their turn. Those who share the slice go on in the order in which they asked, so each looks again
   * whether it is over.
   */
  next(): Promise<void> {
    this.#next ??= nextTurn().then(() => {
      this.#next = undefined;
      this.#since = performance.now();
    });
    return this.#next;
  }
}

/** Maps one after the other, and lets others have their turn when that takes long. */
export async function mapInSlices<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
): Promise<Result[]> {
  const slice = new TimeSlice();
  const results: Result[] = [];
  for (const item of items) {
    results.push(map(item));
    if (slice.isOver) await slice.next();
  }
  return results;
}
