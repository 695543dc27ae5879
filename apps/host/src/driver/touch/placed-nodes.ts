import type { Bounds, UiNode } from '@phalanx/protocol';
import { common } from './rectangles.ts';

/** Node in tree order, with the part of it that its scrollers show. */
export interface Placed {
  readonly node: UiNode;
  readonly parent: Placed | undefined;
  readonly seen: Bounds;
  /** Index after the last node below it. */
  end: number;
}

/** Places the nodes without recursion, because trees may be deep. */
export function placeAll(root: UiNode): Placed[] {
  const placed: Placed[] = [];
  const waiting: (() => void)[] = [];
  const enter = (node: UiNode, parent: Placed | undefined, within: Bounds): void => {
    const one: Placed = { node, parent, seen: common(node.boundsInScreen, within), end: 0 };
    placed.push(one);
    waiting.push(() => void (one.end = placed.length));
    const inside = node.scrollable || node === root ? one.seen : within;
    for (const child of node.children.toReversed()) waiting.push(() => enter(child, one, inside));
  };
  waiting.push(() => enter(root, undefined, root.boundsInScreen));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) next();
  return placed;
}
