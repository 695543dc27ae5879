import type { Bounds } from '@phalanx/protocol';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export const isEmpty = ({ left, top, right, bottom }: Bounds): boolean => right <= left || bottom <= top;

export const contains = ({ left, top, right, bottom }: Bounds, { x, y }: Point): boolean =>
  x >= left && x < right && y >= top && y < bottom;

export const areEqual = (one: Bounds, other: Bounds): boolean =>
  one.left === other.left &&
  one.top === other.top &&
  one.right === other.right &&
  one.bottom === other.bottom;

const areaOf = (bounds: Bounds): number =>
  isEmpty(bounds) ? 0 : (bounds.right - bounds.left) * (bounds.bottom - bounds.top);

/** Returns the largest part of a rectangle that others leave free, or the whole rectangle when they leave none. */
export function largestBeside(whole: Bounds, others: readonly Bounds[]): Bounds {
  let left = whole;
  for (const other of others) if (!isEmpty(common(left, other))) left = largestPartBeside(left, other);
  return isEmpty(left) ? whole : left;
}

function largestPartBeside(whole: Bounds, other: Bounds): Bounds {
  const parts: readonly Bounds[] = [
    { ...whole, bottom: Math.min(whole.bottom, other.top) },
    { ...whole, top: Math.max(whole.top, other.bottom) },
    { ...whole, right: Math.min(whole.right, other.left) },
    { ...whole, left: Math.max(whole.left, other.right) },
  ];
  return parts.toSorted((one, another) => areaOf(another) - areaOf(one))[0] ?? whole;
}

export const common = (one: Bounds, other: Bounds): Bounds => ({
  left: Math.max(one.left, other.left),
  top: Math.max(one.top, other.top),
  right: Math.min(one.right, other.right),
  bottom: Math.min(one.bottom, other.bottom),
});

/** Points to touch in a node, as shares of its size: its middle, and points beside a cover of the middle. */
const shares = [
  [0.5, 0.5],
  [0.25, 0.5],
  [0.75, 0.5],
  [0.5, 0.25],
  [0.5, 0.75],
] as const;

/** Returns the points to touch, the middle first. */
export const pointsIn = ({ left, top, right, bottom }: Bounds): Point[] =>
  shares.map(([across, along]) => ({
    x: Math.floor(left + across * (right - left)),
    y: Math.floor(top + along * (bottom - top)),
  }));
