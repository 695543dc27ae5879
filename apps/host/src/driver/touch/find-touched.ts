import { maxTouchedTextLength, type TouchedNode, type UiNode } from '@phalanx/protocol';
import type { Placed } from './placed-nodes.ts';
import { areEqual } from './rectangles.ts';

/** Converts a node, as its caller has read it, to the form in which it is searched for. */
export function touchedOf({ boundsInScreen, ...node }: UiNode): TouchedNode {
  const { left, top, right, bottom } = boundsInScreen;
  return {
    bounds: { left, top, right, bottom },
    packageName: cut(node.packageName) ?? '',
    className: cut(node.className),
    viewId: cut(node.viewId),
    text: cut(node.text),
    description: cut(node.description),
  };
}

const cut = (text: string | null): string | null => text?.slice(0, maxTouchedTextLength) ?? null;

/**
 * Finds the intended node. It is where it was, or has moved and is unambiguous. A node with other texts at the same
 * place counts as the same, because buttons and counters change their words.
 */
export function findTouched(placed: readonly Placed[], sought: TouchedNode): Placed | undefined {
  const alike = placed.filter(({ node }) => isSameKind(node, sought));
  const isThere = ({ node }: Placed): boolean => areEqual(node.boundsInScreen, sought.bounds);
  const same = alike.filter(({ node }) => saysSame(node, sought));
  const unmoved = same.find(isThere);
  if (unmoved !== undefined) return unmoved;
  return same.length === 1 ? same[0] : alike.find(isThere);
}

const isSameKind = (node: UiNode, sought: TouchedNode): boolean =>
  cut(node.packageName) === sought.packageName &&
  cut(node.className) === sought.className &&
  cut(node.viewId) === sought.viewId;

const saysSame = (node: UiNode, { text, description }: TouchedNode): boolean =>
  cut(node.text) === text && cut(node.description) === description;
