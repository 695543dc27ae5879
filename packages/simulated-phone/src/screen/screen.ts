import type { Rect } from '../view/rect.ts';
import { type Window, findVisible, type VisibleView } from '../view/view.ts';

/** Everything on the display at one moment; immutable. */
export interface Screen {
  readonly width: number;
  readonly height: number;
  /** Rotation in quarter turns. */
  readonly rotation: number;
  /** Windows, back to front. */
  readonly windows: readonly Window[];
}

export function displayRect(screen: Screen): Rect {
  return { left: 0, top: 0, right: screen.width, bottom: screen.height };
}

/** Returns the window with the input focus, which is dumped and gets keys. */
export function findActiveWindow(screen: Screen): Window | undefined {
  return screen.windows.findLast((window) => window.focusable);
}

/** Returns the visible tree of the active window. */
export function findActiveTree(screen: Screen): VisibleView | undefined {
  const window = findActiveWindow(screen);
  return window && findVisible(window.root, displayRect(screen));
}

/**
 * Returns the visible trees of all windows, front one first, as Android lists them. It omits visible windows that a
 * dialog of their own app keeps from being touched.
 */
export function findTrees(screen: Screen): VisibleView[] {
  return listReadable(screen)
    .map(({ root }) => findVisible(root, displayRect(screen)))
    .filter((tree) => tree !== undefined);
}

const listReadable = ({ windows }: Screen): Window[] =>
  windows
    .filter((window, index) => !windows.some((other, at) => at > index && blocks(other, window)))
    .toReversed();

/** Window with the part of the display in which it takes touches. */
export interface TouchWindow {
  readonly window: Window;
  readonly area: Rect;
}

/**
 * Returns the windows that take touches, front one first, with the bounds of AccessibilityWindowInfo: those of the
 * touchable region, which for a dialog is the whole display (WindowState.getTouchableRegion).
 */
export function listTouchWindows(screen: Screen): TouchWindow[] {
  return listReadable(screen).map((window) => ({ window, area: touchArea(window, screen) }));
}

function touchArea({ modal, touchable, root }: Window, screen: Screen): Rect {
  return modal === true ? displayRect(screen) : (touchable ?? root.frame);
}

function blocks(front: Window, behind: Window): boolean {
  return front.modal === true && front.root.packageName === behind.root.packageName;
}
