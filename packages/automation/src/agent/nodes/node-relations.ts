import { nodesBelow } from './node-search.ts';

type Bounds = AndroidNode['boundsInScreen'];
/** Whether a rectangle stands so to another. Edges may touch. */
type Side = (bounds: Bounds, anchor: Bounds) => boolean;

export const sides = {
  below: (bounds, anchor) => bounds.top >= anchor.bottom,
  above: (bounds, anchor) => bounds.bottom <= anchor.top,
  leftOf: (bounds, anchor) => bounds.right <= anchor.left,
  rightOf: (bounds, anchor) => bounds.left >= anchor.right,
} satisfies Record<string, Side>;

/** Pixels from a node to the nearest of the anchors that it stands beside; infinite when there is none. */
export function distanceBeside(
  { boundsInScreen }: AndroidNode,
  anchors: readonly AndroidNode[],
  side: Side,
): number {
  if (isEmpty(boundsInScreen)) return Infinity;
  return anchors
    .map((anchor) => anchor.boundsInScreen)
    .filter((anchor) => !isEmpty(anchor) && side(boundsInScreen, anchor))
    .reduce((least, anchor) => Math.min(least, gapOf(boundsInScreen, anchor)), Infinity);
}

export function isBelow(node: AndroidNode, ancestors: readonly AndroidNode[]): boolean {
  for (let { parent } = node; parent !== null; { parent } = parent)
    if (ancestors.includes(parent)) return true;
  return false;
}

export function descendantsOf(node: AndroidNode): AndroidNode[] {
  return nodesBelow(node).slice(1);
}

export function rootOf(node: AndroidNode): AndroidNode {
  let root = node;
  while (root.parent !== null) root = root.parent;
  return root;
}

/** A node that is not shown has no extent. */
const isEmpty = ({ left, top, right, bottom }: Bounds): boolean => right <= left || bottom <= top;

/** Between the nearest edges, so that a wide node is as near as a narrow one. */
function gapOf(a: Bounds, b: Bounds): number {
  const across = Math.max(0, a.left - b.right, b.left - a.right);
  const along = Math.max(0, a.top - b.bottom, b.top - a.bottom);
  return Math.hypot(across, along);
}
