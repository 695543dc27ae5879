import type { Driver } from '../driver/driver.ts';
import { minuteMs } from '../time/durations.ts';

/** Time for which the helper holds the screen awake after each time it is told to, should the host be gone. */
const heldMs = 10 * minuteMs;
/** Renewal interval. Without the helper a key press counts as use, and keeps any screen on for that time. */
const renewMs = { uiautomator2: 4 * minuteMs, resident: 10_000, dump: 10_000 } as const;

/** Wakes the screen for runs, holds it awake while there are any, and lets the phone sleep after them. */
export class ScreenHolder {
  #holders = 0;
  #driver: Driver | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** Whether somebody works with the screen. */
  get isHeld(): boolean {
    return this.#holders > 0;
  }

  /** Returns how to let go. */
  hold(): () => void {
    this.#holders += 1;
    if (this.#holders === 1) this.#wake();
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#holders -= 1;
      if (this.#holders === 0) this.#letSleep();
    };
  }

  /** The driver ended, or another one came. */
  setDriver(driver: Driver | undefined): void {
    clearInterval(this.#timer);
    this.#driver = driver;
    if (this.isHeld) this.#wake();
  }

  #wake(): void {
    clearInterval(this.#timer);
    const driver = this.#driver;
    if (driver === undefined) return;
    void driver.keepAwake(heldMs);
    this.#timer = setInterval(() => void driver.keepAwake(heldMs), renewMs[driver.source]);
    this.#timer.unref();
  }

  #letSleep(): void {
    clearInterval(this.#timer);
    void this.#driver?.keepAwake(0);
  }
}
