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

  close(): void {
    this.#leave();
    clearTimeout(this.#timer);
  }

  #changed(): void {
    const lateMs = this.#lastAt + this.#intervalMs() - performance.now();
    if (!this.#isWatched || this.#isTold || lateMs === Infinity) return;
    this.#isTold = true;
    this.#timer = setTimeout(
      () => {
        this.#lastAt = performance.now();
        this.#tell();
      },
      Math.max(0, lateMs) + gatherMs,
    ).unref();
  }
}
