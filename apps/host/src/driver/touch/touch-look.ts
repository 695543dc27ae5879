import type { Bounds, UiNode } from '@phalanx/protocol';
import { areEqual, contains, type Point } from './rectangles.ts';

/** A window as touches meet it. */
export interface TouchWindow {
  /** Empty where Android does not say whose it is. */
  readonly packageName: string;
  /** Areas that take touches; the rest of the window lets them through. */
  readonly areas: readonly Bounds[];
  /** Undefined where Android does not say. */
  readonly isKeyboard?: boolean | undefined;
}

/** The windows of a phone at the moment of a touch. */
export interface TouchLook {
  /** The tree of the active window. */
  readonly root: UiNode;
  /** All that take touches, the front one first. Undefined where Android does not tell. */
  readonly windows: readonly TouchWindow[] | undefined;
}

const takes = ({ areas }: TouchWindow, point: Point): boolean => areas.some((area) => contains(area, point));

/** The window that gets a touch at this point: Android gives it to the first one in front that takes touches there. */
export const windowAt = (windows: readonly TouchWindow[], point: Point): TouchWindow | undefined =>
  windows.find((window) => takes(window, point));

/** Windows before that of the tree, which is known by its app and its place: the dialog of an app stands before its page. */
export function windowsBefore(windows: readonly TouchWindow[], root: UiNode): readonly TouchWindow[] {
  const isSameApp = ({ packageName }: TouchWindow): boolean => packageName === root.packageName;
  const isSamePlace = ({ areas }: TouchWindow): boolean =>
    areas.some((area) => areEqual(area, root.boundsInScreen));
  const exact = windows.findIndex((window) => isSameApp(window) && isSamePlace(window));
  const own = exact === -1 ? windows.findIndex(isSameApp) : exact;
  return own === -1 ? windows : windows.slice(0, own);
}
