import type { Settings } from '../settings.ts';

/** The display's sizes in pixels and its density in dots per inch. */
export interface Display {
  readonly width: number;
  readonly height: number;
  readonly density: number;
}

export const statusBarHeightDp = 30;
export const navigationBarHeightDp = 48;

export function toPixels(display: Display, dp: number): number {
  return Math.round((dp * display.density) / 160);
}

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
