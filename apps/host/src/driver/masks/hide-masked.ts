import type { AreaMask, Bounds, NodeMask, UiNode } from '@phalanx/protocol';

import type { Size } from '../pictures/encode-picture.ts';
import { type HeldMask, showsPart } from './typed-secrets.ts';

/** What a mask can know something by. */
type Seen = Pick<UiNode, 'viewId' | 'packageName' | 'className' | 'text' | 'description'>;

export const isAreaMask = (mask: HeldMask): mask is AreaMask => 'area' in mask;

/** Empties the texts of what is masked, in the tree itself. Gives where masked nodes are, as far as no area covers them. */
export function hideMasked(root: UiNode, masks: readonly HeldMask[], screen: Size): Bounds[] {
  const areas = areasOf(masks, screen);
  const hidden: Bounds[] = [];
  const waiting: { node: UiNode; within: Bounds | undefined }[] = [{ node: root, within: undefined }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node } = next;
    const bounds = node.boundsInScreen;
    const isMasked = next.within !== undefined || isHidden(node, masks);
    // What is in a masked node may be drawn beside it.
    if (isMasked && !(next.within && contains(next.within, bounds))) hidden.push(bounds);
    if (isMasked || areas.some((area) => overlaps(area, bounds))) empty(node);
    const within = isMasked ? (next.within ?? bounds) : undefined;
    for (const child of node.children) waiting.push({ node: child, within });
  }
  return hidden;
}

/** Whether a mask names it; those of areas name nothing. */
export function isHidden(seen: Seen, masks: readonly HeldMask[]): boolean {
  return masks.some((mask) => !isAreaMask(mask) && fits(seen, mask));
}

/** In pixels, and rather one too many. */
export function areasOf(masks: readonly HeldMask[], { width, height }: Size): Bounds[] {
  return masks.filter(isAreaMask).map(({ area: { left, top, right, bottom } }) => ({
    left: Math.floor(left * width),
    top: Math.floor(top * height),
    right: Math.ceil(right * width),
    bottom: Math.ceil(bottom * height),
  }));
}

function fits(seen: Seen, mask: Exclude<HeldMask, AreaMask>): boolean {
  if (!('parts' in mask)) return fitsNode(seen, mask);
  return (
    seen.packageName === mask.packageName && (showsPart(seen.text, mask) || showsPart(seen.description, mask))
  );
}

function fitsNode(seen: Seen, mask: NodeMask): boolean {
  const { viewId, className, packageName } = mask;
  return (
    isNamed(seen.viewId, viewId, ':id/') &&
    isNamed(seen.className, className, '.') &&
    (packageName === undefined || seen.packageName === packageName) &&
    isText(seen.text, mask.text, mask.textContains) &&
    isText(seen.description, mask.description, mask.descriptionContains)
  );
}

function isNamed(full: string | null, name: string | undefined, separator: string): boolean {
  return name === undefined || full === name || (full?.endsWith(`${separator}${name}`) ?? false);
}

/**
 * More of a part is not compared, so what begins like it is hidden too. A longer one is looked for in the product of both
 * lengths (see `searchText`): a hundred of 500 letters took 18 seconds in one node of 100,000.
 */
const maxPartLength = 200;

function isText(given: string | null, whole: string | undefined, part: string | undefined): boolean {
  const text = given?.toLowerCase() ?? '';
  return (
    (whole === undefined || text === whole.toLowerCase()) &&
    (part === undefined || text.includes(part.toLowerCase().slice(0, maxPartLength)))
  );
}

function empty(node: UiNode): void {
  const nothing = { text: null, description: null, hintText: null };
  Object.assign(node, nothing, { tooltipText: null, paneTitle: null, containerTitle: null });
}

function contains(outer: Bounds, inner: Bounds): boolean {
  return (
    inner.left >= outer.left &&
    inner.top >= outer.top &&
    inner.right <= outer.right &&
    inner.bottom <= outer.bottom
  );
}

function overlaps(one: Bounds, other: Bounds): boolean {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}
