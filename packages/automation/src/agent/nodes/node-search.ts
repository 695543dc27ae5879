import { bestRank, createTextRank, type TextRank, textRanks } from '../../texts/text-rank.ts';

/** The node and all below it, each parent before its children. Not recursive: trees may be deep. */
export function nodesBelow(root: AndroidNode): AndroidNode[] {
  const found: AndroidNode[] = [];
  const waiting = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    found.push(node);
    for (const child of node.children.toReversed()) waiting.push(child);
  }
  return found;
}

/** Texts that a person would read on the node. */
export function textsOf({ text, description }: AndroidNode): string[] {
  return [text, description].filter((part): part is string => part !== undefined && part !== '');
}

export function nodesWithText(root: AndroidNode, text: string | RegExp): AndroidNode[] {
  return rankedNodes(root, text).map(({ node }) => node);
}

/** The node whose text fits best. */
export function nodeWithText(root: AndroidNode, text: string | RegExp): AndroidNode | null {
  return bestFirst(root, text)[0] ?? null;
}

/** All nodes with a text, those whose text fits better first; in the order of the tree where they fit equally well. */
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

/** `viewId` is the full resource id, or only its name. */
export function hasViewId(node: AndroidNode, viewId: string): boolean {
  return node.viewId !== undefined && (node.viewId === viewId || node.viewId.endsWith(`:id/${viewId}`));
}

function matchRank(pattern: RegExp): (text: string) => TextRank | undefined {
  const lasting = withoutPosition(pattern);
  return (text) => (lasting.test(text) ? textRanks.equal : undefined);
}

/** The expression without the flags that make `test` remember a position. */
const withoutPosition = ({ source, flags }: RegExp): RegExp =>
  new RegExp(source, flags.replaceAll(/[gy]/g, ''));

/** Everything about a node and those below it that a person would see change. */
export function lookOf(screen: AndroidNode): string {
  return nodesBelow(screen)
    .map((node) => {
      const { left, top, right, bottom } = node.boundsInScreen;
      return [node.className, node.isChecked, left, top, right, bottom, ...textsOf(node)].join('|');
    })
    .join('\n');
}

type Bounds = AndroidNode['boundsInScreen'];
/** Whether a rectangle stands so to another. Edges may touch. */
type Side = (bounds: Bounds, anchor: Bounds) => boolean;

export const sides = {
  below: (bounds, anchor) => bounds.top >= anchor.bottom,
  above: (bounds, anchor) => bounds.bottom <= anchor.top,
  leftOf: (bounds, anchor) => bounds.right <= anchor.left,
  rightOf: (bounds, anchor) => bounds.left >= anchor.right,
} satisfies Record<string, Side>;

/** Pixels from a node to the nearest of the anchors that it stands beside; infinite when there is none. */
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

/** A node that is not shown has no extent. */
const isEmpty = ({ left, top, right, bottom }: Bounds): boolean => right <= left || bottom <= top;

/** Between the nearest edges, so that a wide node is as near as a narrow one. */
function gapOf(a: Bounds, b: Bounds): number {
  const across = Math.max(0, a.left - b.right, b.left - a.right);
  const along = Math.max(0, a.top - b.bottom, b.top - a.bottom);
  return Math.hypot(across, along);
}
