import { bestRank, createTextRank, type TextRank, textRanks } from '../../texts/text-rank.ts';

/** Returns the node and its descendants in pre-order. Iterative, because trees may be deep. */
export function nodesBelow(root: AndroidNode): AndroidNode[] {
  const found: AndroidNode[] = [];
  const waiting = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    found.push(node);
    for (const child of node.children.toReversed()) waiting.push(child);
  }
  return found;
}

/** Returns the texts that a person would read on the node. */
export function textsOf({ text, description }: AndroidNode): string[] {
  return [text, description].filter((part): part is string => part !== undefined && part !== '');
}

export function nodesWithText(root: AndroidNode, text: string | RegExp): AndroidNode[] {
  return rankedNodes(root, text).map(({ node }) => node);
}

/** Returns the node with the best matching text. */
export function nodeWithText(root: AndroidNode, text: string | RegExp): AndroidNode | null {
  return bestFirst(root, text)[0] ?? null;
}

/** Returns all nodes with a matching text, best match first; equal matches stay in tree order. */
export function bestFirst(root: AndroidNode, text: string | RegExp): AndroidNode[] {
  return rankedNodes(root, text)
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ node }) => node);
}

interface RankedNode {
  readonly node: AndroidNode;
  readonly rank: TextRank;
}

function rankedNodes(root: AndroidNode, text: string | RegExp): RankedNode[] {
  const rankOf = text instanceof RegExp ? matchRank(text) : createTextRank(String(text));
  return nodesBelow(root).flatMap((node) => {
    const rank = bestRank(textsOf(node), rankOf);
    return rank === undefined ? [] : [{ node, rank }];
  });
}

/** Whether the node has the ID. `viewId` is the full resource ID or only its name. */
export function hasViewId(node: AndroidNode, viewId: string): boolean {
  return node.viewId !== undefined && (node.viewId === viewId || node.viewId.endsWith(`:id/${viewId}`));
}

function matchRank(pattern: RegExp): (text: string) => TextRank | undefined {
  const lasting = withoutPosition(pattern);
  return (text) => (lasting.test(text) ? textRanks.equal : undefined);
}

/** Returns the expression without the flags that make `test` keep a position. */
const withoutPosition = ({ source, flags }: RegExp): RegExp =>
  new RegExp(source, flags.replaceAll(/[gy]/g, ''));

/** Returns a fingerprint of everything visible about a node and its descendants. */
export function lookOf(screen: AndroidNode): string {
  return nodesBelow(screen)
    .map((node) => {
      const { left, top, right, bottom } = node.boundsInScreen;
      return [node.className, node.isChecked, left, top, right, bottom, ...textsOf(node)].join('|');
    })
    .join('\n');
}

type Bounds = AndroidNode['boundsInScreen'];
/** Whether a rectangle lies on a certain side of another. Edges may touch. */
type Side = (bounds: Bounds, anchor: Bounds) => boolean;

export const sides = {
  below: (bounds, anchor) => bounds.top >= anchor.bottom,
  above: (bounds, anchor) => bounds.bottom <= anchor.top,
  leftOf: (bounds, anchor) => bounds.right <= anchor.left,
  rightOf: (bounds, anchor) => bounds.left >= anchor.right,
} satisfies Record<string, Side>;

/** Returns the distance in pixels from a node to the nearest anchor on the given side; infinite if there is none. */
export function distanceBeside(
  { boundsInScreen }: AndroidNode,
  anchors: readonly AndroidNode[],
  side: Side,
): number {
  if (isEmpty(boundsInScreen)) return Infinity;
  return anchors
    .map((anchor) => anchor.boundsInScreen)
    .filter((anchor) => !isEmpty(anchor) && side(boundsInScreen, anchor))
    .reduce((least, anchor) => Math.min(least, gapOf(boundsInScreen, anchor)), Infinity);
}

export function isBelow(node: AndroidNode, ancestors: readonly AndroidNode[]): boolean {
  for (let { parent } = node; parent !== null; { parent } = parent)
    if (ancestors.includes(parent)) return true;
  return false;
}

export function descendantsOf(node: AndroidNode): AndroidNode[] {
  return nodesBelow(node).slice(1);
}

export function rootOf(node: AndroidNode): AndroidNode {
  let root = node;
  while (root.parent !== null) root = root.parent;
  return root;
}

/** Whether a node has no area, as nodes that are not displayed. */
const isEmpty = ({ left, top, right, bottom }: Bounds): boolean => right <= left || bottom <= top;

/** Returns the gap between the nearest edges, so that the width of a node does not matter. */
function gapOf(a: Bounds, b: Bounds): number {
  const across = Math.max(0, a.left - b.right, b.left - a.right);
  const along = Math.max(0, a.top - b.bottom, b.top - a.bottom);
  return Math.hypot(across, along);
}
