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
