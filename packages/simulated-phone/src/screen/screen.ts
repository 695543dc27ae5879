import type { Rect } from '../view/rect.ts';
import { type Window, findVisible, type VisibleView } from '../view/view.ts';

/** Everything that is on the display at one moment; never changed once made. */
export interface Screen {
  readonly width: number;
  readonly height: number;
  /** Quarter turns. */
  readonly rotation: number;
  /** From the back to the front. */
  readonly windows: readonly Window[];
}

export function displayRect(screen: Screen): Rect {
  return { left: 0, top: 0, right: screen.width, bottom: screen.height };
}

/** The window that has the input focus: what is dumped and what gets keys. */
export function findActiveWindow(screen: Screen): Window | undefined {
  return screen.windows.findLast((window) => window.focusable);
}

/** The visible tree of the active window. */
export function findActiveTree(screen: Screen): VisibleView | undefined {
  const window = findActiveWindow(screen);
  return window && findVisible(window.root, displayRect(screen));
}

/**
 * The visible trees of all windows, the front one first, as Android lists them: it leaves out those that a dialog of their
 * own app keeps from being touched, although they are seen.
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

/** A window with the part of the display in which it takes touches. */
export interface TouchWindow {
  readonly window: Window;
  readonly area: Rect;
}

/**
 * Those that take touches, the front one first, with the bounds that AccessibilityWindowInfo tells: of the touchable region, which is
 * the whole display for a dialog (WindowState.getTouchableRegion).
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
