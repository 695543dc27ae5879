import { distanceBeside, sides } from '../agent/nodes/node-search.ts';
import type { SideMethod } from './conditions.ts';

const maxLabels = 3;

/** The labels that a reader would take for the node's: in its row or its column, of the smallest group first. */
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
      // In a row the title comes before the summary, whichever of them ends nearer.
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

/** The node and those around it, with how deep each stands. */
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
