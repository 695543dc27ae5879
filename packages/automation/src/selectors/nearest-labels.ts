import { distanceBeside, sides } from '../agent/nodes/node-search.ts';
import type { SideMethod } from './conditions.ts';

const maxLabels = 3;

/**
 * Returns the labels that a reader would assign to the node: in its row or column, from the smallest common group
 * first.
 */
export function nearestLabels(
  node: AndroidNode,
  labels: readonly AndroidNode[],
  side: SideMethod,
): AndroidNode[] {
  const isRow = side === 'rightOf' || side === 'leftOf';
  const depths = depthsOf(node);
  return (
    labels
      .filter((label) => isAligned(node, label, isRow))
      .map((label) => ({
        label,
        away: distanceBeside(node, [label], sides[side]),
        group: sharedDepth(label, depths),
      }))
      .filter(({ away }) => away < Infinity)
      // In a row the title precedes the summary, whichever of them is nearer.
      .toSorted((one, other) => other.group - one.group || (isRow ? 0 : one.away - other.away))
      .slice(0, maxLabels)
      .map(({ label }) => label)
  );
}

function isAligned(
  { boundsInScreen: a }: AndroidNode,
  { boundsInScreen: b }: AndroidNode,
  isRow: boolean,
): boolean {
  return isRow ? a.top < b.bottom && b.top < a.bottom : a.left < b.right && b.left < a.right;
}

/** Returns the node and its ancestors with their depths. */
function depthsOf(node: AndroidNode): ReadonlyMap<AndroidNode, number> {
  const path: AndroidNode[] = [];
  for (let one: AndroidNode | null = node; one !== null; one = one.parent) path.unshift(one);
  return new Map(path.map((one, depth) => [one, depth]));
}

function sharedDepth(label: AndroidNode, depths: ReadonlyMap<AndroidNode, number>): number {
  for (let one: AndroidNode | null = label; one !== null; one = one.parent) {
    const depth = depths.get(one);
    if (depth !== undefined) return depth;
  }
  return -1;
}
