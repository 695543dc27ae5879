import type { Bounds, TouchedNode, TouchReach, UiNode } from '@phalanx/protocol';
import { findTouched } from './find-touched.ts';
import { placeAll, type Placed } from './placed-nodes.ts';
import { contains, isEmpty, largestBeside, type Point, pointsIn } from './rectangles.ts';
import { type TouchLook, type TouchWindow, windowAt, windowsBefore } from './touch-look.ts';

/** Node or window that gets a touch in place of the intended node. */
export type Cover = { readonly window: TouchWindow } | { readonly node: UiNode };

/** Result of a search: a `TouchReach` with what covers the node. */
export type FoundReach = Extract<TouchReach, { state: 'free' }> | Unreached;

export type Unreached =
  | { readonly state: 'covered'; readonly cover: Cover }
  | { readonly state: 'not_in_view' }
  | { readonly state: 'gone' };

/** Finds which node of which window gets a touch: whether it is the intended one, and where. */
export function reachOf({ root, windows = [] }: TouchLook, sought: TouchedNode): FoundReach {
  const placed = placeAll(root);
  const target = findTouched(placed, sought);
  return target === undefined ? { state: 'gone' } : reachIn(placed, target, windowsBefore(windows, root));
}

/** Finds the same for a node of that tree. */
export function reachOfNode({ root, windows = [] }: TouchLook, node: UiNode): FoundReach {
  const placed = placeAll(root);
  const target = placed.find((one) => one.node === node);
  return target === undefined ? { state: 'gone' } : reachIn(placed, target, windowsBefore(windows, root));
}

function reachIn(placed: readonly Placed[], target: Placed, before: readonly TouchWindow[]): FoundReach {
  if (!target.node.visible || !isWideEnough(target)) return { state: 'not_in_view' };
  const over = placed.slice(target.end).filter((one) => liesOver(one, target));
  const coverAt = (point: Point): Cover | undefined => {
    const window = windowAt(before, point);
    if (window !== undefined) return { window };
    const top = over.findLast(({ seen }) => contains(seen, point));
    return top && { node: top.node };
  };
  const areas = before.flatMap((window) => window.areas);
  const points = pointsIn(target.seen);
  const rest = largestBeside(target.seen, [...areas, ...over.map(({ seen }) => seen)]);
  const point = [...points, ...(isTouchable(rest) ? pointsIn(rest).slice(0, 1) : [])].find(
    (one) => coverAt(one) === undefined,
  );
  if (point !== undefined) return { state: 'free', point, area: largestBeside(target.seen, areas) };
  const [cover] = points.flatMap((one) => coverAt(one) ?? []);
  return cover === undefined ? { state: 'not_in_view' } : { state: 'covered', cover };
}

/**
 * Whether a node covers the target. A later node of the tree is drawn over the target, and takes touches where it
 * accepts any.
 */
function liesOver(one: Placed, target: Placed): boolean {
  return one.node.visible && takesTouches(one.node) && !isEmpty(one.seen) && !standsFor(one, target);
}

/**
 * Whether a layer stands for a node. Cards often have a clickable layer over their texts: a touch on a text is meant
 * for the card, whose layer gets it.
 */
function standsFor(layer: Placed, { node, parent }: Placed): boolean {
  if (takesTouches(node) || parent === undefined || layer.parent !== parent) return false;
  const isWindow = parent.parent === undefined;
  return !isWindow && fills(layer.seen, parent.seen);
}

const fills = (one: Bounds, other: Bounds): boolean =>
  one.left <= other.left && one.top <= other.top && one.right >= other.right && one.bottom >= other.bottom;

const takesTouches = ({ clickable, longClickable, checkable }: UiNode): boolean =>
  clickable || longClickable || checkable;

/** Minimum size in pixels. On a thinner sliver of a node, a finger touches what is beside it. */
const minPixels = 12;

const isTouchable = ({ left, top, right, bottom }: Bounds): boolean =>
  right - left >= minPixels && bottom - top >= minPixels;

function isWideEnough({ node: { boundsInScreen: whole }, seen }: Placed): boolean {
  const width = Math.min(minPixels, whole.right - whole.left);
  const height = Math.min(minPixels, whole.bottom - whole.top);
  return !isEmpty(seen) && seen.right - seen.left >= width && seen.bottom - seen.top >= height;
}
