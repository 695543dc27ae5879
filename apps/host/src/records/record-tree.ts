import { promisify } from 'node:util';
import { constants, gunzip, gzip, gzipSync } from 'node:zlib';

import { maxCaptureBytes, type ScreenTree, type UiNode, Bounds } from '@phalanx/protocol';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';

/** Compressed JSON of a tree, about a tenth of its size. Undefined when it exceeds the server's limit. */
export type PackedTree = Buffer | undefined;

const compress = promisify(gzip);
const expand = promisify(gunzip);

/**
 * Maximum size to compress in this thread, in bytes. For small trees, the round trip to another thread takes longer.
 */
const maxSoonBytes = 64 * 1024;
const form = { level: constants.Z_BEST_SPEED };

/** Compresses a tree, outside the event loop unless it is small. */
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

// Limits equal to those of trees that come from a phone.
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
 * Returns a copy of a tree that user code has sent, with only the fields of `UiNode`. Undefined when the value is no
 * tree, or exceeds the limits of phones. It does not recurse, because the sender chooses the depth.
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
