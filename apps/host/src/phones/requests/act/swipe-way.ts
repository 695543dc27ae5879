import type { Bounds, UiNode } from '@phalanx/protocol';

export type Direction = NonNullable<ScrollOptions['direction']>;

/**
 * Duration of a swipe in milliseconds, slow enough (and with a short enough distance) that the fling moves nothing past
 * the screen.
 */
export const swipeMs = 600;
const swipedShare = 0.4;
const ways: Readonly<Record<Direction, readonly [x: number, y: number]>> = {
  down: [0, -1],
  up: [0, 1],
  left: [1, 0],
  right: [-1, 0],
};

export function wayWithin({ left, top, right, bottom }: Bounds, direction: Direction) {
  const [across, along] = ways[direction];
  const [x, y] = [(left + right) / 2, (top + bottom) / 2];
  const [byX, byY] = [
    (across * swipedShare * (right - left)) / 2,
    (along * swipedShare * (bottom - top)) / 2,
  ];
  return {
    fromX: Math.round(x - byX),
    fromY: Math.round(y - byY),
    toX: Math.round(x + byX),
    toY: Math.round(y + byY),
  };
}

/** Returns the largest list. Apps that draw by themselves report no list; then the screen itself is swiped. */
export function largestList(root: UiNode): UiNode {
  let largest = root;
  let largestArea = 0;
  const waiting = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    waiting.push(...node.children);
    const { left, top, right, bottom } = node.boundsInScreen;
    const area = node.scrollable && node.visible ? (right - left) * (bottom - top) : 0;
    if (area > largestArea) [largest, largestArea] = [node, area];
  }
  return largest;
}
