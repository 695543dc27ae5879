import type { Size } from '../view/rect.ts';
import type { Window } from '../view/view.ts';

/** Display in addition to the main one: the cover of a foldable, the cluster of a car, a virtual one. */
export interface OtherDisplay extends Size {
  /** Density in dots per inch. */
  readonly density: number;
  /** Android's display ID. The main display has 0. */
  readonly id: number;
  /** SurfaceFlinger's ID of its panel, in decimal digits. Default: none, as for a virtual display. */
  readonly physicalId?: string | undefined;
  /** Name that an app gives a virtual display. Default: `cluster`. */
  readonly name?: string | undefined;
  /** Windows, back to front. */
  readonly windows: readonly Window[];
  /** `package/class` of its front activity. Default: none. */
  readonly activity?: string | undefined;
  /** Title of its window with the focus. Default: none. */
  readonly focus?: string | undefined;
  /** Whether the phone lists it before the main display. Default: false. */
  readonly isListedFirst?: boolean | undefined;
}

/** SurfaceFlinger's ID of the main display's panel. */
export const mainPanel = '4619827259835644672';

/** Returns displays in the order in which a phone lists them. */
export function listed<Of>(
  main: Of,
  others: readonly OtherDisplay[],
  toItem: (other: OtherDisplay) => Of,
): Of[] {
  const isFirst = ({ isListedFirst }: OtherDisplay) => isListedFirst === true;
  const items = (some: readonly OtherDisplay[]) => some.map((other) => toItem(other));
  return [...items(others.filter(isFirst)), main, ...items(others.filter((other) => !isFirst(other)))];
}
