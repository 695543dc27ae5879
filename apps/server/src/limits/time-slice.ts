import { setImmediate as nextTurn } from 'node:timers/promises';

/** Shorter than what anybody notices; a turn of the event loop costs some microseconds. */
const sliceMs = 5;

/** Work on the event loop that gives it back to others now and then. */
export class TimeSlice {
  #since = performance.now();

  get isOver(): boolean {
    return performance.now() - this.#since >= sliceMs;
  }

  /** Lets others have their turn. */
  async next(): Promise<void> {
    await nextTurn();
    this.#since = performance.now();
  }
}
