/** By root node. */
const treeIds = new WeakMap<AndroidNode, number>();

/** Notes under which ID the host has the tree. Gives the root. */
export function rememberTree(root: AndroidNode, treeId: number | undefined): AndroidNode {
  if (treeId !== undefined) treeIds.set(root, treeId);
  return root;
}

/** Undefined for a tree that no host has sent. */
export function findTreeId(root: AndroidNode): number | undefined {
  return treeIds.get(root);
}
