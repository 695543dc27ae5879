import { setTimeout as pause } from 'node:timers/promises';
import { type CompactScreen, readCompact, type ScreenTree } from '@phalanx/protocol';

import type { Driver } from '../../../driver/driver.ts';
import { screenSize, type ScreenSize } from '../screen-reader.ts';

/** Screen of a phone at a moment. */
export interface Look {
  readonly tree: ScreenTree;
  readonly size: ScreenSize;
  readonly compact: CompactScreen;
  /** Sign of the screen: the same for as long as nothing that is told of has changed or moved. */
  readonly sign: string;
}

/** Pause between two readings that have to be the same. */
const restMs = 120;
/** A screen that moves all the time counts as settled after that. */
const maxSettleMs = 3000;

/** Reads the screen of a phone for the steps of an `act`. */
export class PhoneEye {
  captures = 0;
  /** Whether the last look has shown the same as the one before. */
  isAtRest = false;
  #last: Look | undefined;
  readonly #driver: Driver;
  readonly #signal: AbortSignal;

  constructor(driver: Driver, signal: AbortSignal) {
    this.#driver = driver;
    this.#signal = signal;
  }

  get last(): Look | undefined {
    return this.#last;
  }

  /** Returns the last look, or looks now. */
  async known(): Promise<Look> {
    return this.#last ?? this.look();
  }

  async look(): Promise<Look> {
    const before = this.#last?.sign;
    this.captures += 1;
    const tree = await this.#driver.call('screen.content', {}, this.#signal);
    const size = await screenSize(this.#driver, tree.rotation, this.#signal);
    const compact = readCompact({ ...size, tree });
    const { head, lines, leftOut } = compact;
    const parts = lines.map(({ text, identity }) => `${text}${identity.place}`);
    const sign = [head, leftOut, ...parts].join('\n');
    this.isAtRest = sign === before;
    return (this.#last = { tree, size, compact, sign });
  }

  /** Looks until the screen is at rest. */
  async settle(): Promise<Look> {
    const until = performance.now() + maxSettleMs;
    let look = await this.look();
    while (!this.isAtRest && performance.now() < until) {
      await pause(restMs, undefined, { signal: this.#signal });
      look = await this.look();
    }
    return look;
  }

  /** Something was done, so that the last look says nothing of now. */
  async settleAfterInput(): Promise<void> {
    this.isAtRest = false;
    await pause(restMs, undefined, { signal: this.#signal });
    await this.settle();
  }
}
