/** State in `dumpsys battery`. */
export class Battery {
  /** Whether there is a battery. A device without one, such as a TV box, reports made-up values. */
  isPresent = true;
  /** Charge in percent. */
  level = 100;
  /** Temperature in degrees Celsius. */
  temperature = 27.1;
  /** BatteryManager.BATTERY_HEALTH_…: 2 is good. */
  health = 2;
  /** Voltage in millivolts. */
  voltage = 4320;
  /** Lines that the maker adds to `dumpsys battery`. */
  extra = '';
  #isPlugged = true;
  readonly #onUnplugged: () => void;

  constructor(onUnplugged: () => void) {
    this.#onUnplugged = onUnplugged;
  }

  get isPlugged(): boolean {
    return this.#isPlugged;
  }

  /** Plugs or unplugs the charger, not the ADB cable. */
  setPlugged(isPlugged: boolean): void {
    const wasPlugged = this.#isPlugged;
    this.#isPlugged = isPlugged;
    if (wasPlugged && !isPlugged) this.#onUnplugged();
  }
}
