import { maxRecordScreens, type RecordedCall } from '@phalanx/protocol';

import type { TakenPicture } from '../driver/pictures/taken-picture.ts';
import type { RecordLimits } from './record-limits.ts';
import type { PackedTree } from './record-tree.ts';

/** Memory that the screens of all runs use together, in bytes. */
export interface MemoryBudget {
  usedBytes: number;
}

type Limits = Pick<RecordLimits, 'runMemoryBytes' | 'totalMemoryBytes'>;

/** Last screens of a run. */
export class ScreenWindow {
  readonly #budget: MemoryBudget;
  readonly #limits: Limits;
  #screens: KeptScreen[] = [];
  #usedBytes = 0;

  constructor(budget: MemoryBudget, limits: Limits) {
    this.#budget = budget;
    this.#limits = limits;
  }

  /** Returns the screens, oldest first. */
  list(): readonly KeptScreen[] {
    return this.#screens;
  }

  add(screen: KeptScreen): void {
    this.#screens.push(screen);
    if (this.#screens.length > maxRecordScreens) this.#screens.shift();
    this.measure();
  }

  /**
   * Drops old pictures, then old screens, until the rest fits into the limits. Call it when a tree or a picture has
   * arrived.
   */
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

/**
 * Screen that a run has collected. Tree and picture arrive later; `settled` resolves when both have arrived or failed.
 */
export interface KeptScreen {
  /** ID of the screen. The ID of the last look at a screen is final once its tree is read. */
  screenId: string;
  /** Number of the screen, counted from 1 within the run. */
  readonly number: number;
  readonly nextStage: string;
  readonly screenState: string;
  readonly maxSteps: number;
  /** Time of the screen in epoch milliseconds on the service's clock. */
  readonly timestamp: number;
  readonly wantsPicture: boolean;
  /** Package of the foreground app according to the tree; undefined without a tree. */
  packageName: string | undefined;
  /** Calls between this screen and the next stored one. */
  readonly calls: RecordedCall[];
  tree: PackedTree;
  picture: TakenPicture | undefined;
  settled: Promise<unknown>;
}

function sizeOf({ tree, picture }: KeptScreen): number {
  return (tree?.byteLength ?? 0) + (picture?.sizeBytes ?? 0);
}
