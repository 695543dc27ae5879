import { setImmediate as nextTurn } from 'node:timers/promises';

/** Length of a slice: too short to notice, and long beside the microseconds of a turn of the event loop. */
const sliceMs = 5;

/** Time slice for work on the event loop. Work that shares a slice takes turns, and together has the time of one. */
export class TimeSlice {
  #since = performance.now();
  #next: Promise<void> | undefined;

  get isOver(): boolean {
    return performance.now() - this.#since >= sliceMs;
  }

  /** Runs work to its end. Other work has its turn each time the slice is over. */
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

/** Maps the items one after the other, and lets other work have its turn when that takes long. */
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
