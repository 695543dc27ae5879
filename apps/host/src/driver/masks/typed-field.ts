import type { Bounds, UiNode } from '@phalanx/protocol';
import { fieldText } from '../tree/text-fields.ts';
import { minuteMs } from '@phalanx/timing/durations';

/** Properties by which a mask recognizes a field. Texts that are not nodes have no bounds. */
interface Seen extends Pick<UiNode, 'viewId' | 'className'>, Partial<Pick<UiNode, 'boundsInScreen'>> {
  /** Package of the app; undefined when unknown. */
  readonly packageName: string | undefined;
}

interface Reading {
  readonly bounds: Bounds;
  readonly text: string;
}

/** Time in ms after which a field that can't be told from similar ones counts as removed. */
const unsureMs = 10 * minuteMs;

/**
 * Field into which a secret was typed, tracked from one reading of the screen to the next. A node of an app keeps its
 * ID. Fields without an ID, and fields that share one, are distinguished by their bounds and texts. When that is
 * uncertain, all of them are hidden.
 */
export class TypedField {
  readonly packageName: string;
  readonly #viewId: string | null;
  readonly #className: string | null;
  #place: Bounds;
  #isSure = false;
  #sureAt = performance.now();
  #seenAt = performance.now();
  #isSeen = true;
  /** Fields among which it was last found, in tree order, and its index. */
  #known: { readonly all: readonly Reading[]; readonly at: number } | undefined;
  /** Whether the field has shown a text since. */
  #isFilled = false;

  constructor({ packageName, viewId, className, boundsInScreen }: UiNode) {
    this.packageName = packageName;
    this.#viewId = viewId;
    this.#className = className;
    this.#place = boundsInScreen;
  }

  /** Whether the last tree of its app contains the field. */
  get isSeen(): boolean {
    return this.#isSeen;
  }

  wasSeenWithin(ms: number): boolean {
    return performance.now() - this.#seenAt < ms;
  }

  hides(seen: Seen): boolean {
    if (!this.#isLike(seen)) return false;
    if (this.#viewId !== null || !this.#isSure) return true;
    return seen.boundsInScreen !== undefined && overlap(seen.boundsInScreen, this.#place) > 0;
  }

  /** Notes what the app shows. Returns true when the field is empty again, or removed. */
  noteTree(root: UiNode): boolean {
    const all = this.#listIn(root);
    this.#isSeen = all.length > 0;
    if (this.#isSeen) this.#seenAt = performance.now();
    const at = this.#find(all);
    const own = at === undefined ? undefined : all[at];
    this.#isSure = own !== undefined;
    if (own === undefined || at === undefined)
      return this.#viewId === null && performance.now() - this.#sureAt > unsureMs;
    this.#sureAt = performance.now();
    this.#known = { all, at };
    this.#place = own.bounds;
    this.#isFilled ||= own.text !== '';
    return own.text === '' && this.#isFilled;
  }

  #isLike({ packageName, viewId, className }: Seen): boolean {
    const isSame = packageName === this.packageName && viewId === this.#viewId;
    return isSame && (viewId !== null || className === this.#className);
  }

  #listIn(root: UiNode): Reading[] {
    const found: Reading[] = [];
    const waiting = [root];
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      if (this.#isLike(node)) found.push({ bounds: node.boundsInScreen, text: fieldText(node) });
      waiting.push(...node.children.toReversed());
    }
    return found;
  }

  /** Returns the index of the field; undefined when uncertain. */
  #find(all: readonly Reading[]): number | undefined {
    const known = this.#known;
    if (known === undefined) return findOnly(all, ({ bounds }) => isSamePlace(bounds, this.#place));
    if (all.length !== known.all.length) return undefined;
    const isOnlyOne = all.length === 1 && this.#viewId !== null;
    return isOnlyOne || isUnmoved(known.all, all) || isTold(known, all) ? known.at : undefined;
  }
}

/** Returns the index of the only match. */
function findOnly(all: readonly Reading[], fits: (one: Reading) => boolean): number | undefined {
  const at = all.findIndex(fits);
  return at !== -1 && at === all.findLastIndex(fits) ? at : undefined;
}

/**
 * Whether no field has moved, and at most one text has changed: had the fields moved up in a list, more texts would
 * differ.
 */
function isUnmoved(before: readonly Reading[], all: readonly Reading[]): boolean {
  const changed = all.filter(({ text }, at) => text !== before[at]?.text);
  return changed.length <= 1 && all.every(({ bounds }, at) => isSamePlace(bounds, before[at]?.bounds));
}

/**
 * Whether the fields have moved with the same texts, as when the keyboard appears, and no other field has the same
 * text.
 */
function isTold(
  { all: before, at }: { all: readonly Reading[]; at: number },
  all: readonly Reading[],
): boolean {
  const own = before[at]?.text;
  const areSame = all.every(({ text }, no) => text === before[no]?.text);
  return areSame && own !== '' && findOnly(all, ({ text }) => text === own) === at;
}

const areaOf = ({ left, top, right, bottom }: Bounds): number =>
  Math.max(0, right - left) * Math.max(0, bottom - top);

function overlap(one: Bounds, other: Bounds): number {
  return areaOf({
    left: Math.max(one.left, other.left),
    top: Math.max(one.top, other.top),
    right: Math.min(one.right, other.right),
    bottom: Math.min(one.bottom, other.bottom),
  });
}

/** Whether bounds are those of the same field. Fields grow with their texts. */
const isSamePlace = (one: Bounds, other: Bounds | undefined): boolean =>
  other !== undefined && 2 * overlap(one, other) > Math.max(areaOf(one), areaOf(other));
