/** What `dumpsys battery` tells. */
export class Battery {
  /** Percent. */
  level = 100;
  /** Degrees Celsius. */
  temperature = 27.1;
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
