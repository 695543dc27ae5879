import type { UiNode } from '@phalanx/protocol';

/** Finds the first matching node in tree order. */
export function findNode(node: UiNode, fits: (node: UiNode) => boolean): UiNode | undefined {
  if (fits(node)) return node;
  for (const child of node.children) {
    const found = findNode(child, fits);
    if (found !== undefined) return found;
  }
  return undefined;
}
