import type { Canvas } from './canvas.ts';
import { type Rect, contains, intersect, type Point } from './rect.ts';
import type { FieldOptions, TextField } from './text-field.ts';

/** Scroll position of a list; lives as long as its activity, while views are rebuilt. */
export interface ScrollState {
  offset: number;
  /** Maximum offset, known after the list was laid out. */
  max: number;
}

/** Node of the screen: accessibility attributes, position, appearance and reactions to touches. */
export interface View {
  readonly className: string;
  readonly packageName: string;
  /** Position and size, not clipped by the ancestors. */
  readonly frame: Rect;
  /** Full ID, such as `android:id/title`. */
  readonly resourceId?: string | undefined;
  readonly text?: string | undefined;
  readonly description?: string | undefined;
  readonly hint?: string | undefined;
  readonly checkable?: boolean | undefined;
  readonly checked?: boolean | undefined;
  /** Whether the view is enabled. Default: true. */
  readonly enabled?: boolean | undefined;
  readonly focused?: boolean | undefined;
  readonly selected?: boolean | undefined;
  readonly password?: boolean | undefined;
  /** Whether children outside of the frame are neither drawn, dumped nor touched. */
  readonly clips?: boolean | undefined;
  readonly children?: readonly View[] | undefined;
  readonly paint?: ((canvas: Canvas) => void) | undefined;
  readonly onTap?: (() => void) | undefined;
  readonly onDoubleTap?: (() => void) | undefined;
  readonly onLongPress?: (() => void) | undefined;
  readonly scroll?: ScrollState | undefined;
  readonly field?: TextField | undefined;
}

/** Window of the screen, as stacked by the window manager. */
export interface Window {
  /** Title in `dumpsys window`: `package/class` for an activity, a word for a system window. */
  readonly title: string;
  readonly root: View;
  /** Whether the window can have the focus. The topmost focusable window is dumped and gets keys. */
  readonly focusable: boolean;
  /**
   * Area in which the window takes touches; elsewhere they go to the window behind it. Default: the frame of its
   * root.
   */
  readonly touchable?: Rect | undefined;
  /** Whether the window takes every touch, including those outside of its frame. */
  readonly modal?: boolean | undefined;
  readonly onTapOutside?: (() => void) | undefined;
}

/** Area for a widget in pixels: full width, from the top, at most to the bottom. */
export interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Access of a widget to its activity. */
export interface Ui {
  readonly packageName: string;
  /** Converts density-independent pixels to pixels, rounded. */
  dp(value: number): number;
  /** Returns the field of that name, created on first use and kept as long as the activity. */
  field(name: string, options?: FieldOptions): TextField;
  scroll(name: string): ScrollState;
  isFocused(field: TextField): boolean;
  /** Focuses a field and shows the keyboard. */
  focus(field: TextField): void;
}

/** Builds a view inside of an area; the bottom of the returned frame determines its height. */
export type Widget = (ui: Ui, area: Area) => View;

/** Returns `package:id/title` for `title`; keeps a name with a colon, such as `android:id/title`. */
export function resourceId(ui: Ui, name: string | undefined): string | undefined {
  return name === undefined || name.includes(':') ? name : `${ui.packageName}:id/${name}`;
}

/** View with the part of it that its ancestors do not clip. */
export interface VisibleView {
  readonly view: View;
  readonly bounds: Rect;
  readonly children: readonly VisibleView[];
}

/** Returns the visible part of a tree; undefined if nothing is visible. */
export function findVisible(view: View, clip: Rect): VisibleView | undefined {
  const bounds = intersect(view.frame, clip);
  if (!bounds) return undefined;
  const childClip = view.clips ? bounds : clip;
  const children = (view.children ?? []).map((child) => findVisible(child, childClip));
  return { view, bounds, children: children.filter((child) => child !== undefined) };
}

/** Yields nodes in pre-order. */
export function* walk(visible: VisibleView): Generator<VisibleView> {
  yield visible;
  for (const child of visible.children) yield* walk(child);
}

/** Returns the innermost and topmost view at a point that passes the test. */
export function findAt(
  visible: VisibleView,
  point: Point,
  test: (view: View) => boolean,
): VisibleView | undefined {
  if (!contains(visible.bounds, point)) return undefined;
  for (const child of visible.children.toReversed()) {
    const found = findAt(child, point, test);
    if (found) return found;
  }
  return test(visible.view) ? visible : undefined;
}
