/** State in `dumpsys battery`. */
export class Battery {
  /** False on a device without one, such as a box for a TV: what else is told of it is made up. */
  isPresent = true;
  /** Percent. */
  level = 100;
  /** Degrees Celsius. */
  temperature = 27.1;
  /** BatteryManager.BATTERY_HEALTH_…: 2 is good. */
  health = 2;
  /** Millivolts. */
  voltage = 4320;
  /** Lines that its maker adds to `dumpsys battery`. */
  extra = '';
  #isPlugged = true;
  readonly #onUnplugged: () => void;

  constructor(onUnplugged: () => void) {
    this.#onUnplugged = onUnplugged;
  }

  get isPlugged(): boolean {
    return this.#isPlugged;
  }

  /** The charger, not the cable of ADB. */
  setPlugged(isPlugged: boolean): void {
    const wasPlugged = this.#isPlugged;
    this.#isPlugged = isPlugged;
    if (wasPlugged && !isPlugged) this.#onUnplugged();
  }
}
