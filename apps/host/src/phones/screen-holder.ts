import type { Driver } from '../driver/driver.ts';
import { minuteMs } from '@phalanx/timing/durations';

/** Time in milliseconds for which each request to the helper keeps the screen awake, in case the host dies. */
const heldMs = 10 * minuteMs;
/**
 * Renewal interval in milliseconds. Without the helper, a key press counts as activity, and keeps any screen on for
 * that time.
 */
const renewMs = { uiautomator2: 4 * minuteMs, resident: 10_000, dump: 10_000 } as const;

/** Wakes the screen for runs, keeps it awake while there are any, and lets the phone sleep afterwards. */
export class ScreenHolder {
  #holders = 0;
  #driver: Driver | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** Whether anyone uses the screen. */
  get isHeld(): boolean {
    return this.#holders > 0;
  }

  /** Keeps the screen awake. Returns a function that releases it. */
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

  /** Handles the end or the replacement of the driver. */
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
