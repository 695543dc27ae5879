import type { Clock } from '../kernel/clock.ts';

/** The system's time, moved by as much as a test wants. */
export class TestClock implements Clock {
  #offsetMs = 0;

  now(): number {
    return Date.now() + this.#offsetMs;
  }

  /** Negative: a step back. */
  advance(byMs: number): void {
    this.#offsetMs += byMs;
  }
}
