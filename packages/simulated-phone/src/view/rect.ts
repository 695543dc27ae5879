/** Rectangle in pixels of the display; right and bottom are exclusive, as in Android. */
export interface Rect {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export const rectWidth = (rect: Rect): number => rect.right - rect.left;
export const rectHeight = (rect: Rect): number => rect.bottom - rect.top;

export function center(rect: Rect): Point {
  return { x: (rect.left + rect.right) >> 1, y: (rect.top + rect.bottom) >> 1 };
}

export function contains(rect: Rect, { x, y }: Point): boolean {
  return x >= rect.left && x < rect.right && y >= rect.top && y < rect.bottom;
}

/** Returns the intersection; undefined if it is empty. */
export function intersect(a: Rect, b: Rect): Rect | undefined {
  const both = {
    left: Math.max(a.left, b.left),
    top: Math.max(a.top, b.top),
    right: Math.min(a.right, b.right),
    bottom: Math.min(a.bottom, b.bottom),
  };
  return both.left < both.right && both.top < both.bottom ? both : undefined;
}

/** Returns the rectangle shrunk by `by` pixels at each edge. */
export function inset(rect: Rect, by: number): Rect {
  return { left: rect.left + by, top: rect.top + by, right: rect.right - by, bottom: rect.bottom - by };
}
