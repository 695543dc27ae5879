/** What came with a tree, by its root node. */
interface TreeFacts {
  readonly treeId?: number | undefined;
  /** About the phone, for whoever waits for something else. */
  readonly remark?: string | undefined;
}

const known = new WeakMap<AndroidNode, TreeFacts>();

/** Notes under which ID the host has the tree, and what it says of it. Gives the root. */
export function rememberTree(root: AndroidNode, { treeId, remark }: TreeFacts): AndroidNode {
  known.set(root, { treeId, remark });
  return root;
}

/** Undefined for a tree that no host has sent. */
export function findTreeId(root: AndroidNode): number | undefined {
  return known.get(root)?.treeId;
}

export function findRemark(root: AndroidNode): string | undefined {
  return known.get(root)?.remark;
}
