import type { Bounds, UiNode } from '@phalanx/protocol';

interface Point {
  readonly x: number;
  readonly y: number;
}

/** A node in the order of the tree, with the part of it that its scrollers show. */
interface Placed {
  readonly node: UiNode;
  readonly seen: Bounds;
  /** The place after the last node below it. */
  end: number;
}

/** Where in a node somebody touches: in its middle, or beside what lies over that. */
const shares = [
  [0.5, 0.5],
  [0.25, 0.5],
  [0.75, 0.5],
  [0.5, 0.25],
  [0.5, 0.75],
] as const;

/** Where a touch reaches the node, or why none does. */
export function touchPoint(root: UiNode, node: UiNode): Point | 'not_in_view' | 'covered' {
  const placed = placeAll(root);
  const target = placed.find((one) => one.node === node);
  if (target === undefined || !node.visible || !isWideEnough(target)) return 'not_in_view';
  const over = placed
    .slice(target.end)
    .filter(({ node: other, seen }) => other.visible && takesTouches(other) && !isEmpty(seen));
  const free = shares
    .map((share) => pointIn(target.seen, share))
    .find((point) => !over.some(({ seen }) => contains(seen, point)));
  return free ?? 'covered';
}

/** Not recursive: trees may be deep. */
function placeAll(root: UiNode): Placed[] {
  const placed: Placed[] = [];
  const waiting: (() => void)[] = [];
  const enter = (node: UiNode, within: Bounds): void => {
    const one: Placed = { node, seen: common(node.boundsInScreen, within), end: 0 };
    placed.push(one);
    waiting.push(() => void (one.end = placed.length));
    const inside = node.scrollable || node === root ? one.seen : within;
    for (const child of node.children.toReversed()) waiting.push(() => enter(child, inside));
  };
  waiting.push(() => enter(root, root.boundsInScreen));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) next();
  return placed;
}

const takesTouches = ({ clickable, longClickable, checkable }: UiNode): boolean =>
  clickable || longClickable || checkable;

const common = (one: Bounds, other: Bounds): Bounds => ({
  left: Math.max(one.left, other.left),
  top: Math.max(one.top, other.top),
  right: Math.min(one.right, other.right),
  bottom: Math.min(one.bottom, other.bottom),
});

/** Of a node that its list shows a sliver of, a finger touches what is beside it. */
const leastPixels = 12;

function isWideEnough({ node: { boundsInScreen: whole }, seen }: Placed): boolean {
  const width = Math.min(leastPixels, whole.right - whole.left);
  const height = Math.min(leastPixels, whole.bottom - whole.top);
  return !isEmpty(seen) && seen.right - seen.left >= width && seen.bottom - seen.top >= height;
}

const isEmpty = ({ left, top, right, bottom }: Bounds): boolean => right <= left || bottom <= top;

const pointIn = (
  { left, top, right, bottom }: Bounds,
  [across, along]: readonly [number, number],
): Point => ({
  x: Math.floor(left + across * (right - left)),
  y: Math.floor(top + along * (bottom - top)),
});

const contains = ({ left, top, right, bottom }: Bounds, { x, y }: Point): boolean =>
  x >= left && x < right && y >= top && y < bottom;
