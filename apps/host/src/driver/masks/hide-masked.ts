import type { AreaMask, Bounds, NodeMask, UiNode } from '@phalanx/protocol';

import type { Size } from '../pictures/encode-picture.ts';
import { MaskedTexts } from './masked-texts.ts';
import { showsPart } from './secret-parts.ts';
import { TypedField } from './typed-field.ts';
import type { HeldMask } from './typed-secrets.ts';

/** Properties by which a mask recognizes a node or a text. */
interface Seen
  extends
    Pick<UiNode, 'viewId' | 'className' | 'text' | 'description'>,
    Partial<Pick<UiNode, 'boundsInScreen' | 'hintText' | 'tooltipText' | 'paneTitle' | 'containerTitle'>> {
  /** Package of the app; undefined when unknown. */
  readonly packageName: string | undefined;
}

export const isAreaMask = (mask: HeldMask): mask is AreaMask => 'area' in mask;

/**
 * Empties the texts of masked nodes, and of nodes that overlap a masked area, in the tree itself. Returns the bounds of
 * masked nodes, except for those within a masked ancestor.
 */
export function hideMasked(root: UiNode, masks: readonly HeldMask[], screen: Size): Bounds[] {
  const areas = areasOf(masks, screen);
  const hidden: Bounds[] = [];
  const waiting: { node: UiNode; within: Bounds | undefined }[] = [{ node: root, within: undefined }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node } = next;
    const bounds = node.boundsInScreen;
    const isMasked = next.within !== undefined || isHidden(node, masks);
    // Hides children of a masked node too: they may be drawn outside of it.
    if (isMasked && !(next.within && contains(next.within, bounds))) hidden.push(bounds);
    if (isMasked || areas.some((area) => overlaps(area, bounds))) empty(node);
    const within = isMasked ? (next.within ?? bounds) : undefined;
    for (const child of node.children) waiting.push({ node: child, within });
  }
  return hidden;
}

/**
 * Whether a mask hides this by name; area masks name nothing. Content of an unknown app counts as content of the mask's
 * app.
 */
export function isHidden(seen: Seen, masks: readonly HeldMask[]): boolean {
  const texts = new MaskedTexts(seen);
  return masks.some((mask) => !isAreaMask(mask) && fits(seen, texts, mask));
}

/** Areas of the masks in pixels, rounded outwards. */
export function areasOf(masks: readonly HeldMask[], { width, height }: Size): Bounds[] {
  return masks.filter(isAreaMask).map(({ area: { left, top, right, bottom } }) => ({
    left: Math.floor(left * width),
    top: Math.floor(top * height),
    right: Math.ceil(right * width),
    bottom: Math.ceil(bottom * height),
  }));
}

function fits(seen: Seen, texts: MaskedTexts, mask: Exclude<HeldMask, AreaMask>): boolean {
  if (mask instanceof TypedField) return mask.hides(seen);
  if (!('parts' in mask)) return fitsNode(seen, texts, mask);
  const { text, description, hintText, tooltipText, paneTitle, containerTitle } = seen;
  const shown = [text, description, hintText, tooltipText, paneTitle, containerTitle];
  return isOfApp(seen, mask.packageName) && shown.some((one) => showsPart(one ?? null, mask));
}

function fitsNode(seen: Seen, texts: MaskedTexts, mask: NodeMask): boolean {
  return (
    isNamed(seen.viewId, mask.viewId, ':id/') &&
    isNamed(seen.className, mask.className, '.') &&
    (mask.packageName === undefined || isOfApp(seen, mask.packageName)) &&
    texts.meet(mask)
  );
}

const isOfApp = ({ packageName }: Seen, wanted: string): boolean =>
  packageName === undefined || packageName === wanted;

function isNamed(full: string | null, name: string | undefined, separator: string): boolean {
  return name === undefined || full === name || (full?.endsWith(`${separator}${name}`) ?? false);
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
