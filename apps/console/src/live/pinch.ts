import type { PhoneInput } from '@phalanx/protocol';

interface Point {
  readonly x: number;
  readonly y: number;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

type Fingers = Extract<PhoneInput, { type: 'fingers' }>;

const zoomMs = 300;
/** Of the smaller side of the screen, from the middle. */
const [nearShare, farShare] = [0.1, 0.35];

/** Where the second finger is while the first is at that point: on the other side of the middle of the screen. */
export const mirrored = ({ x, y }: Point, { width, height }: Size): Point => ({
  x: Math.max(0, width - 1 - x),
  y: Math.max(0, height - 1 - y),
});

/** Two fingers around the middle of the screen, of which one goes that way. */
export function pinchAlong(from: Point, to: Point, size: Size, duration_ms: number): Fingers {
  const [otherFrom, otherTo] = [mirrored(from, size), mirrored(to, size)];
  const way = (start: Point, end: Point): Fingers['ways'][number] => ({
    ...{ from_x: start.x, from_y: start.y, to_x: end.x, to_y: end.y },
  });
  return { type: 'fingers', ways: [way(from, to), way(otherFrom, otherTo)], duration_ms };
}

/** Two fingers that part, or come together, in the middle of the screen. */
export function zoom(isIn: boolean, size: Size): Fingers {
  const side = Math.min(size.width, size.height);
  const at = (share: number): Point => ({
    x: Math.round(size.width / 2),
    y: Math.round(size.height / 2 - share * side),
  });
  const [near, far] = [at(nearShare), at(farShare)];
  return isIn ? pinchAlong(near, far, size, zoomMs) : pinchAlong(far, near, size, zoomMs);
}
