import { displayRect } from '../../screen/screen.ts';
import { findAt, findVisible, type VisibleView, type View, type Window } from '../../view/view.ts';
import { contains, type Point } from '../../view/rect.ts';
import { pause } from '../../pause.ts';
import type { Android } from '../android.ts';
import { statusBarHeightDp, toPixels } from '../display/display.ts';
import type { Gesture } from './input-log.ts';

/** Android's own limits: movements below the slop do not count, and a press beyond the time-out is long. */
const touchSlopDp = 8;
const longPressMs = 500;
const doubleTapMs = 300;
/** Duration of a frame in ms, at sixty frames a second. */
const frameMs = 16;

interface Hit {
  readonly window: Window;
  readonly tree: VisibleView;
}

/** Returns the window that gets a touch at this point, unless a modal window swallows it. */
function findHit(android: Android, point: Point): Hit | undefined {
  const { screen } = android;
  for (const window of screen.windows.toReversed()) {
    const tree = findVisible(window.root, displayRect(screen));
    const isTaken = window.touchable === undefined || contains(window.touchable, point);
    if (tree && isTaken && findAt(tree, point, () => true)) return { window, tree };
    if (window.modal) {
      window.onTapOutside?.();
      return undefined;
    }
  }
  return undefined;
}

const lastTaps = new WeakMap<Android, { readonly at: Point; readonly timeMs: number }>();

/** Whether this is the second of two quick taps close to each other. */
function isSecondTap(android: Android, at: Point): boolean {
  const last = lastTaps.get(android);
  const isSecond =
    last !== undefined &&
    performance.now() - last.timeMs < doubleTapMs &&
    Math.hypot(last.at.x - at.x, last.at.y - at.y) < toPixels(android.display, 100);
  if (isSecond) lastTaps.delete(android);
  else lastTaps.set(android, { at, timeMs: performance.now() });
  return isSecond;
}

function act(android: Android, at: Point, handlerOf: (view: View) => (() => void) | undefined): boolean {
  const hit = findHit(android, at);
  const target = hit && findAt(hit.tree, at, (view) => handlerOf(view) !== undefined);
  if (!target) return false;
  if (target.view.enabled !== false) handlerOf(target.view)?.();
  android.redraw();
  return true;
}

export function tap(android: Android, at: Point): void {
  android.inputs.add({ kind: 'tap', at });
  if (!android.isScreenOn || android.isLocked) return;
  const isSecond = isSecondTap(android, at);
  if (isSecond && act(android, at, (view) => view.onDoubleTap)) return;
  act(android, at, (view) => view.onTap);
}

export function doubleTap(android: Android, at: Point): void {
  android.inputs.add({ kind: 'double-tap', at });
  if (!android.isScreenOn || android.isLocked) return;
  if (act(android, at, (view) => view.onDoubleTap)) return;
  act(android, at, (view) => view.onTap);
  act(android, at, (view) => view.onTap);
}

export function longPress(android: Android, at: Point): void {
  android.inputs.add({ kind: 'long-press', at });
  if (!android.isScreenOn || android.isLocked) return;
  act(android, at, (view) => view.onLongPress);
}

function findScroll(android: Android, at: Point): View['scroll'] {
  const hit = findHit(android, at);
  return hit && findAt(hit.tree, at, (view) => view.scroll !== undefined)?.view.scroll;
}

/** Scrolls the list under the finger by the distance of the gesture, without a fling. */
function scrollUnder(android: Android, { from, to }: Gesture): void {
  const scroll = findScroll(android, from);
  if (!scroll) return;
  scroll.offset = Math.min(Math.max(scroll.offset + Math.round(from.y - to.y), 0), scroll.max);
  android.redraw();
}

const isFromTop = (android: Android, { y }: Point): boolean =>
  y < toPixels(android.display, statusBarHeightDp);

const isMoved = (android: Android, from: Point, to: Point): boolean =>
  Math.hypot(to.x - from.x, to.y - from.y) > toPixels(android.display, touchSlopDp);

function swipe(android: Android, gesture: Gesture): void {
  android.inputs.add({ kind: 'swipe', ...gesture });
  const { from, to } = gesture;
  if (!android.isScreenOn) return;
  const up = from.y - to.y;
  if (android.isLocked) return up > android.display.height / 8 ? android.lockScreen.dismiss() : undefined;
  if (isFromTop(android, from) && -up > android.display.height / 8) return android.setOverlay('shade');
  if (android.overlay === 'shade' && up > android.display.height / 8) return android.setOverlay(undefined);
  scrollUnder(android, gesture);
}

/**
 * Performs a gesture of one finger: a tap, a long press or a swipe, which distance and time distinguish as on
 * Android.
 */
export function applyGesture(android: Android, gesture: Gesture): void {
  const { from, to, durationMs } = gesture;
  if (isMoved(android, from, to)) return swipe(android, gesture);
  return durationMs >= longPressMs ? longPress(android, from) : tap(android, from);
}

/** Finger on the screen. The list under it moves along; the gesture is classified when the finger is lifted. */
export class Finger {
  readonly #android: Android;
  readonly #from: Point;
  readonly #downAt = performance.now();
  readonly #scroll: View['scroll'];
  readonly #offset: number;
  #at: Point;

  constructor(android: Android, from: Point) {
    this.#android = android;
    this.#from = from;
    this.#at = from;
    const isScrolling =
      android.isScreenOn && !android.isLocked && android.overlay !== 'shade' && !isFromTop(android, from);
    this.#scroll = isScrolling ? findScroll(android, from) : undefined;
    this.#offset = this.#scroll?.offset ?? 0;
  }

  /** Moves in a straight line, frame by frame. */
  async moveTo(to: Point, durationMs: number, signal: AbortSignal): Promise<void> {
    const [from, beganAt] = [this.#at, performance.now()];
    for (;;) {
      const restMs = Math.max(0, beganAt + durationMs - performance.now());
      const share = restMs === 0 ? 1 : 1 - restMs / durationMs;
      this.#place({ x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share });
      if (share === 1 || signal.aborted) return;
      await pause(signal, Math.min(frameMs, restMs));
    }
  }

  /** Lifts the finger. `durationMs` defaults to the time since it went down. */
  lift(durationMs = performance.now() - this.#downAt): void {
    // The completed gesture scrolls the list from its original offset.
    if (this.#scroll !== undefined) this.#scroll.offset = this.#offset;
    applyGesture(this.#android, { from: this.#from, to: this.#at, durationMs });
  }

  #place(at: Point): void {
    this.#at = at;
    if (this.#scroll === undefined || !isMoved(this.#android, this.#from, at)) return;
    this.#scroll.offset = this.#offset;
    scrollUnder(this.#android, { from: this.#from, to: at, durationMs: 0 });
  }
}
