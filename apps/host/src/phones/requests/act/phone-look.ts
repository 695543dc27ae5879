import { type CompactScreen, readCompact, type ScreenTree } from '@phalanx/protocol';

import type { Driver } from '../../../driver/driver.ts';
import { pause } from '../../../time/time-limit.ts';
import { screenSize, type ScreenSize } from '../screen-reader.ts';
import { restMs, whenAtRest } from '../when-at-rest.ts';

/** Screen of a phone at one moment. */
export interface Look {
  readonly tree: ScreenTree;
  readonly size: ScreenSize;
  readonly compact: CompactScreen;
  /** Digest of the visible content. It stays the same while nothing changes or moves. */
  readonly digest: string | undefined;
}

/** Reads the screen of a phone for the steps of an `act`. */
export class PhoneEye {
  captures = 0;
  /** Whether the last look equals the one before. */
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

  /** Returns the last look, or takes one. */
  async known(): Promise<Look> {
    return this.#last ?? this.look();
  }

  async look(): Promise<Look> {
    const before = this.#last?.digest;
    this.captures += 1;
    const tree = await this.#driver.call('screen.content', {}, this.#signal);
    const size = await screenSize(this.#driver, tree.rotation, this.#signal);
    const compact = readCompact({ ...size, tree });
    const digest = this.#driver.digestOf(tree.root);
    this.isAtRest = digest !== undefined && digest === before;
    return (this.#last = { tree, size, compact, digest });
  }

  /** Looks until the screen is at rest. */
  async settle(): Promise<Look> {
    const look = async (): Promise<string> => (await this.look()).digest ?? '';
    await whenAtRest(look, this.#signal, this.#last?.digest);
    return this.known();
  }

  /** Settles after an input, which makes the last look stale. */
  async settleAfterInput(): Promise<void> {
    this.isAtRest = false;
    await pause(restMs, this.#signal);
    this.#signal.throwIfAborted();
    await this.settle();
  }
}
