import type { Bounds, UiNode } from '@phalanx/protocol';
import { areEqual, contains, type Point } from './rectangles.ts';

/** Window from the view of touches. */
export interface TouchWindow {
  /** Package of the app; empty when Android does not report it. */
  readonly packageName: string;
  /** Areas that accept touches; the rest of the window lets them through. */
  readonly areas: readonly Bounds[];
  /** Whether the window is a keyboard; undefined when Android does not report it. */
  readonly isKeyboard?: boolean | undefined;
}

/** The windows of a phone at the moment of a touch. */
export interface TouchLook {
  /** Tree of the active window. */
  readonly root: UiNode;
  /** Windows that accept touches, front to back. Undefined when Android does not report them. */
  readonly windows: readonly TouchWindow[] | undefined;
}

const takes = ({ areas }: TouchWindow, point: Point): boolean => areas.some((area) => contains(area, point));

/**
 * Returns the window that gets a touch at this point: Android gives it to the frontmost one that accepts touches there.
 */
export const windowAt = (windows: readonly TouchWindow[], point: Point): TouchWindow | undefined =>
  windows.find((window) => takes(window, point));

/**
 * Returns the windows in front of that of the tree, which its app and its place identify: the dialog of an app is in
 * front of its page.
 */
export function windowsBefore(windows: readonly TouchWindow[], root: UiNode): readonly TouchWindow[] {
  const isSameApp = ({ packageName }: TouchWindow): boolean => packageName === root.packageName;
  const isSamePlace = ({ areas }: TouchWindow): boolean =>
    areas.some((area) => areEqual(area, root.boundsInScreen));
  const exact = windows.findIndex((window) => isSameApp(window) && isSamePlace(window));
  const own = exact === -1 ? windows.findIndex(isSameApp) : exact;
  return own === -1 ? windows : windows.slice(0, own);
}
