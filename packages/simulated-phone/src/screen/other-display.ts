import type { Size } from '../view/rect.ts';
import type { Window } from '../view/view.ts';

/** A display beside the main one: the cover of a foldable, the cluster of a car, a virtual one. */
export interface OtherDisplay extends Size {
  /** Dots per inch. */
  readonly density: number;
  /** Android's number for it. The main display has 0. */
  readonly id: number;
  /** SurfaceFlinger's number for its panel, in decimal digits. Default: none, as a virtual display has. */
  readonly physicalId?: string | undefined;
  /** The name that an app gives a virtual display. Default: `cluster`. */
  readonly name?: string | undefined;
  /** From the back to the front. */
  readonly windows: readonly Window[];
  /** `package/class` of the activity in front there. Default: none. */
  readonly activity?: string | undefined;
  /** Title of the window with the focus there. Default: none. */
  readonly focus?: string | undefined;
  /** Whether the phone lists it before the main display. Default: false. */
  readonly isListedFirst?: boolean | undefined;
}

/** SurfaceFlinger's number for the panel of the main display. */
export const mainPanel = '4619827259835644672';

/** In the order in which a phone lists them. */
export function listed<Of>(
  main: Of,
  others: readonly OtherDisplay[],
  toItem: (other: OtherDisplay) => Of,
): Of[] {
  const isFirst = ({ isListedFirst }: OtherDisplay) => isListedFirst === true;
  const items = (some: readonly OtherDisplay[]) => some.map((other) => toItem(other));
  return [...items(others.filter(isFirst)), main, ...items(others.filter((other) => !isFirst(other)))];
}
