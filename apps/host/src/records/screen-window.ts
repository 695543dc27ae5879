import { maxRecordScreens } from '@phalanx/protocol';

import { type KeptScreen, sizeOf } from './kept-screen.ts';
import type { RecordLimits } from './record-limits.ts';

/** What the screens of all runs together hold, in bytes. */
export interface MemoryBudget {
  usedBytes: number;
}

type Limits = Pick<RecordLimits, 'runMemoryBytes' | 'totalMemoryBytes'>;

/** The last screens of a run. */
export class ScreenWindow {
  readonly #budget: MemoryBudget;
  readonly #limits: Limits;
  #screens: KeptScreen[] = [];
  #usedBytes = 0;

  constructor(budget: MemoryBudget, limits: Limits) {
    this.#budget = budget;
    this.#limits = limits;
  }

  /** Oldest first. */
  list(): readonly KeptScreen[] {
    return this.#screens;
  }

  add(screen: KeptScreen): void {
    this.#screens.push(screen);
    if (this.#screens.length > maxRecordScreens) this.#screens.shift();
    this.measure();
  }

  /** To be called when a tree or a picture has come. Gives up old pictures, then old screens, until the rest fits. */
  measure(): void {
    this.#count();
    while (this.#isOver() && this.#screens.length > 0) {
      const withPicture = this.#screens.find(({ picture }) => picture !== undefined);
      if (withPicture === undefined) this.#screens.shift();
      else withPicture.picture = undefined;
      this.#count();
    }
  }

  clear(): void {
    this.#screens = [];
    this.#count();
  }

  #count(): void {
    const usedBytes = this.#screens.reduce((sum, screen) => sum + sizeOf(screen), 0);
    this.#budget.usedBytes += usedBytes - this.#usedBytes;
    this.#usedBytes = usedBytes;
  }

  #isOver(): boolean {
    const { runMemoryBytes, totalMemoryBytes } = this.#limits;
    const isTotalOver = this.#budget.usedBytes > totalMemoryBytes && this.#usedBytes > 0;
    return this.#usedBytes > runMemoryBytes || isTotalOver;
  }
}
