/** Facts that came with a tree, keyed by its root node. */
interface TreeFacts {
  readonly treeId?: number | undefined;
  /** Time at which the host recorded the phone's screen. */
  readonly capturedAt?: number | undefined;
  /** Note about the phone, for the error of failed waits. */
  readonly remark?: string | undefined;
}

const known = new WeakMap<AndroidNode, TreeFacts>();

/** Records the host's ID of the tree and facts about it. Returns the root. */
export function rememberTree(root: AndroidNode, { treeId, capturedAt, remark }: TreeFacts): AndroidNode {
  known.set(root, { treeId, capturedAt, remark });
  return root;
}

/** Returns the host's ID of a tree; undefined for a tree that no host has sent. */
export function findTreeId(root: AndroidNode): number | undefined {
  return known.get(root)?.treeId;
}

export function findRemark(root: AndroidNode): string | undefined {
  return known.get(root)?.remark;
}

/** Returns the capture time of a tree; undefined for a tree that no host has sent. */
export function findCaptureTime(root: AndroidNode): number | undefined {
  return known.get(root)?.capturedAt;
}
