import type { Canvas } from './canvas.ts';
import { type Rect, contains, intersect, type Point } from './rect.ts';
import type { FieldOptions, TextField } from './text-field.ts';

/** How far a list is scrolled; lives as long as its activity, while views are built anew. */
export interface ScrollState {
  offset: number;
  /** The largest offset, known after the list was laid out. */
  max: number;
}

/** One node of the screen: accessibility attributes, place, look and what touching it does. */
export interface View {
  readonly className: string;
  readonly packageName: string;
  /** Position and size without clipping by the ancestors. */
  readonly frame: Rect;
  /** Full name, such as `android:id/title`. */
  readonly resourceId?: string | undefined;
  readonly text?: string | undefined;
  readonly description?: string | undefined;
  readonly hint?: string | undefined;
  readonly checkable?: boolean | undefined;
  readonly checked?: boolean | undefined;
  /** Default: true. */
  readonly enabled?: boolean | undefined;
  readonly focused?: boolean | undefined;
  readonly selected?: boolean | undefined;
  readonly password?: boolean | undefined;
  /** Children outside the frame are neither drawn, dumped nor touched. */
  readonly clips?: boolean | undefined;
  readonly children?: readonly View[] | undefined;
  readonly paint?: ((canvas: Canvas) => void) | undefined;
  readonly onTap?: (() => void) | undefined;
  readonly onDoubleTap?: (() => void) | undefined;
  readonly onLongPress?: (() => void) | undefined;
  readonly scroll?: ScrollState | undefined;
  readonly field?: TextField | undefined;
}

/** One window of the screen, as the window manager stacks them. */
export interface Window {
  /** Title in `dumpsys window`: `package/class` for an activity, a word for a system window. */
  readonly title: string;
  readonly root: View;
  /** The topmost focusable window is the one that is dumped and gets keys. */
  readonly focusable: boolean;
  /**
   * Area in which the window takes touches; elsewhere they go to the window behind it. Default: the frame of
   * its root.
   */
  readonly touchable?: Rect | undefined;
  /** Takes every touch, also outside its frame. */
  readonly modal?: boolean | undefined;
  readonly onTapOutside?: (() => void) | undefined;
}

/** Area for a widget: full width, from the top, at most down to the bottom. Pixels. */
export interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Access of a widget to the activity it is built for. */
export interface Ui {
  readonly packageName: string;
  /** Density-independent pixels to pixels, rounded. */
  dp(value: number): number;
  /** The field of that name, made on first use and kept as long as the activity. */
  field(name: string, options?: FieldOptions): TextField;
  scroll(name: string): ScrollState;
  isFocused(field: TextField): boolean;
  /** Gives the input focus to a field and shows the keyboard. */
  focus(field: TextField): void;
}

/** Builds a view inside an area; its height is the bottom of the frame it returns. */
export type Widget = (ui: Ui, area: Area) => View;

/** `title` becomes `package:id/title`; a name with a colon stays, such as `android:id/title`. */
export function resourceId(ui: Ui, name: string | undefined): string | undefined {
  return name === undefined || name.includes(':') ? name : `${ui.packageName}:id/${name}`;
}

/** A view with what is left of it after its ancestors clipped it. */
export interface VisibleView {
  readonly view: View;
  readonly bounds: Rect;
  readonly children: readonly VisibleView[];
}

/** The part of a tree that can be seen; undefined when nothing of it can. */
export function findVisible(view: View, clip: Rect): VisibleView | undefined {
  const bounds = intersect(view.frame, clip);
  if (!bounds) return undefined;
  const childClip = view.clips ? bounds : clip;
  const children = (view.children ?? []).map((child) => findVisible(child, childClip));
  return { view, bounds, children: children.filter((child) => child !== undefined) };
}

/** Depth first, parents before their children. */
export function* walk(visible: VisibleView): Generator<VisibleView> {
  yield visible;
  for (const child of visible.children) yield* walk(child);
}

/** The innermost and topmost view at a point for which the test holds. */
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
