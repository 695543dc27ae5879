import { promisify } from 'node:util';
import { constants, gunzip, gzip, gzipSync } from 'node:zlib';

import { maxCaptureBytes, type ScreenTree, type UiNode, Bounds } from '@phalanx/protocol';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';

/** Waits that read the screen between a reading and its storing are common; more than a few are not. */
const keptTrees = 5;

/** JSON of a tree, compressed: about a tenth. Undefined when it is larger than the server takes. */
export type PackedTree = Buffer | undefined;

const compress = promisify(gzip);
const expand = promisify(gunzip);

/** Maximum size to compress in this thread, in bytes: the way to another thread and back takes longer. */
const maxSoonBytes = 64 * 1024;
const form = { level: constants.Z_BEST_SPEED };

/** Compresses all but small trees outside the event loop. */
export async function packTree(
  tree: Omit<ScreenTree, 'treeId' | 'source'> & { source: string },
): Promise<PackedTree> {
  const json = Buffer.from(JSON.stringify(tree));
  if (json.byteLength > maxCaptureBytes) return undefined;
  return json.byteLength > maxSoonBytes ? compress(json, form) : gzipSync(json, form);
}

export function unpackTree(packed: Buffer): Promise<Buffer> {
  return expand(packed, { maxOutputLength: maxCaptureBytes });
}

/** A tree that this host has read. */
interface KeptTree {
  /** Epoch milliseconds on the host's clock. */
  readonly capturedAt: number;
  /** Packs the tree at the first call; later ones give the same. */
  pack(): Promise<PackedTree>;
  readonly root: UiNode;
  /** ID by which the steps of the run name its screen. */
  readonly screenId: string | undefined;
}

/** The last trees of a run by their IDs, so that a tree that the automation stores need not travel a second time. */
export class RecentTrees {
  readonly #trees = new Map<number, KeptTree>();
  #lastId = 0;

  keep(tree: ScreenTree, screenId: string | undefined): number {
    const id = (this.#lastId += 1);
    this.#trees.set(id, keepTree(tree, screenId));
    this.#trees.delete(id - keptTrees);
    return id;
  }

  find(id: number): KeptTree | undefined {
    return this.#trees.get(id);
  }
}

function keepTree(tree: ScreenTree, screenId: string | undefined): KeptTree {
  let packed: Promise<PackedTree> | undefined;
  return {
    capturedAt: tree.capturedAt,
    pack: () => (packed ??= packTree(tree)),
    root: tree.root,
    screenId,
  };
}

// Limits as for trees that come from a phone.
const maxDepth = 400;
const maxNodes = 20_000;
const maxTextLength = 100_000;

const text = Type.String({ maxLength: maxTextLength });
const textOrNull = Type.Union([text, Type.Null()]);
const number = Type.Integer();
const flag = Type.Boolean();

const NodeShape = Type.Object({
  className: textOrNull,
  packageName: text,
  viewId: textOrNull,
  text: textOrNull,
  description: textOrNull,
  hintText: textOrNull,
  tooltipText: textOrNull,
  paneTitle: textOrNull,
  containerTitle: textOrNull,
  index: number,
  boundsInScreen: Bounds,
  maxTextLength: number,
  inputType: text,
  isShowingHintText: flag,
  checkable: flag,
  checked: flag,
  clickable: flag,
  enabled: flag,
  focusable: flag,
  focused: flag,
  longClickable: flag,
  password: flag,
  scrollable: flag,
  selected: flag,
  visible: flag,
  children: Type.Array(Type.Unknown(), { maxItems: maxNodes }),
});
type NodeShape = Static<typeof NodeShape>;

const shape = Compile(NodeShape);
const names = Object.keys(NodeShape.properties);

interface CheckedTree {
  root: UiNode;
  nodeCount: number;
}

/**
 * A copy of a tree that user code has sent, with the fields of `UiNode` and no others. Undefined when it is no tree, or
 * larger than those of phones. Not recursive, because the sender chooses the depth.
 */
export function checkTree(value: unknown): CheckedTree | undefined {
  const top: UiNode[] = [];
  const waiting = [{ value, depth: 1, siblings: top }];
  let nodeCount = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    nodeCount += 1;
    if (nodeCount + waiting.length > maxNodes || next.depth > maxDepth || !shape.Check(next.value))
      return undefined;
    const node = copyOf(next.value);
    next.siblings.push(node);
    for (const child of next.value.children.toReversed())
      waiting.push({ value: child, depth: next.depth + 1, siblings: node.children });
  }
  const [root] = top;
  return root === undefined ? undefined : { root, nodeCount };
}

function copyOf(node: NodeShape): UiNode {
  const { left, top, right, bottom } = node.boundsInScreen;
  const known = Object.entries(node).filter(([name]) => names.includes(name));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the shape was checked, and has all fields
  const copy = Object.fromEntries(known) as unknown as UiNode;
  return { ...copy, boundsInScreen: { left, top, right, bottom }, children: [] };
}
