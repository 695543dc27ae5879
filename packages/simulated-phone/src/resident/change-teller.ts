import type { Android } from '../android/android.ts';

/** The real helper gathers changes for so long before it tells of them. */
const gatherMs = 30;

/** Tells once that the screen has changed, and no more before the next reading (Changes.java). */
export class ChangeTeller {
  readonly #tell: () => void;
  readonly #intervalMs: () => number;
  readonly #leave: () => void;
  #isWatched = false;
  #isTold = false;
  #lastAt = -Infinity;
  #timer: NodeJS.Timeout | undefined;

  /** `intervalMs`: apps tell accessibility at most that often. */
  constructor(android: Android, intervalMs: () => number, tell: () => void) {
    this.#tell = tell;
    this.#intervalMs = intervalMs;
    this.#leave = android.shown.onRedraw(() => this.#changed());
  }

  watch(isOn: boolean): void {
    this.#isWatched = isOn;
    this.#isTold = false;
  }

  /** What comes from now on is not in the tree that is read. */
  beginReading(): void {
    this.#isTold = false;
  }

  /** The helper's own look has found another screen: nothing that an app has to tell. */
  lookedAtAnother(): void {
    this.#tellLater(0);
  }

  close(): void {
    this.#leave();
    clearTimeout(this.#timer);
  }

  #changed(): void {
    const intervalMs = this.#intervalMs();
    if (intervalMs < Infinity) this.#tellLater(Math.max(0, this.#lastAt + intervalMs - performance.now()));
  }

  #tellLater(lateMs: number): void {
    if (!this.#isWatched || this.#isTold) return;
    this.#isTold = true;
    this.#timer = setTimeout(() => {
      this.#lastAt = performance.now();
      this.#tell();
    }, lateMs + gatherMs).unref();
  }
}
