import { contains, intersect, type Point, type Rect } from './rect.ts';
import type { View } from './view.ts';

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
