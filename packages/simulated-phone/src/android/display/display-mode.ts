import type { Display } from './display.ts';
import type { Settings } from '../settings.ts';

/** Size, density and rotation of the display. */
export class DisplayMode {
  readonly physical: Display;
  readonly #settings: Settings;
  #upright: Display;

  constructor(physical: Display, settings: Settings) {
    this.physical = physical;
    this.#upright = physical;
    this.#settings = settings;
  }

  /** As it is rotated now. */
  get current(): Display {
    if (this.rotation % 2 === 0) return this.#upright;
    return { ...this.#upright, width: this.#upright.height, height: this.#upright.width };
  }

  /** Quarter turns; with the sensor on, a phone on a desk stays upright. */
  get rotation(): number {
    const table = this.#settings.findTable('system');
    return table?.get('accelerometer_rotation') === '0' ? Number(table.get('user_rotation') ?? 0) % 4 : 0;
  }

  resize(display: Display): void {
    this.#upright = display;
  }
}
