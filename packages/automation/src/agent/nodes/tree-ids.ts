/** Facts that came with a tree, keyed by its root node. */
interface TreeFacts {
  readonly treeId?: number | undefined;
  /** Under this time the host knows what the phone showed. */
  readonly capturedAt?: number | undefined;
  /** A remark on the phone, for waits that end in vain. */
  readonly remark?: string | undefined;
}

const known = new WeakMap<AndroidNode, TreeFacts>();

/** Notes under which ID the host has the tree, and what it says of it. Gives the root. */
export function rememberTree(root: AndroidNode, { treeId, capturedAt, remark }: TreeFacts): AndroidNode {
  known.set(root, { treeId, capturedAt, remark });
  return root;
}

/** Undefined for a tree that no host has sent. */
export function findTreeId(root: AndroidNode): number | undefined {
  return known.get(root)?.treeId;
}

export function findRemark(root: AndroidNode): string | undefined {
  return known.get(root)?.remark;
}

/** Undefined for a tree that no host has sent. */
export function findCaptureTime(root: AndroidNode): number | undefined {
  return known.get(root)?.capturedAt;
}
