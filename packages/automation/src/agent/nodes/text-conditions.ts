import { comparedText, seenText } from '../../texts/seen-text.ts';
import { createTextRank } from '../../texts/text-rank.ts';
import { hasViewId, nodesBelow, rootOf } from './node-search.ts';

type Condition = (node: AndroidNode) => boolean;
type ReadText = (node: AndroidNode) => string | undefined;
/** Adds a condition; `wanted` is the text that must appear on the node. */
type And = (condition: Condition, wanted?: string | RegExp) => AndroidNodeFilter;

const textOf: ReadText = ({ text }) => text;
const descriptionOf: ReadText = ({ description }) => description;

/** Conditions on a node's text, description and ID. */
export function textConditions(and: And) {
  return {
    hasText: (text?: string) => and(equals(textOf, text), text),
    textContains: (part: string) => and(contains(textOf, part), part),
    textMatches: (pattern: RegExp) =>
      and(({ text }) => text !== undefined && text.search(pattern) >= 0, pattern),
    hasDescription: (text?: string) => and(equals(descriptionOf, text), text),
    descriptionContains: (part: string) => and(contains(descriptionOf, part), part),
    hasId: (viewId?: string) =>
      and((node) => (viewId === undefined ? node.viewId !== undefined : hasViewId(node, viewId))),
  };
}

/** Ignores letter case, unless a node of the screen matches exactly. That way `OK` and `Ok` can be told apart. */
function equals(read: ReadText, wanted: string | undefined): Condition {
  if (wanted === undefined) return (node) => (read(node) ?? '') !== '';
  const seen = seenText(wanted);
  const caseless = comparedText(wanted);
  const isExact = (node: AndroidNode): boolean => isSeenAs(read(node), seen);
  const known = new WeakMap<AndroidNode, boolean>();
  return (node) => {
    const text = read(node);
    if (text === undefined || comparedText(text) !== caseless) return false;
    if (isExact(node)) return true;
    const root = rootOf(node);
    const hasExact = known.get(root) ?? nodesBelow(root).some(isExact);
    known.set(root, hasExact);
    return !hasExact;
  };
}

const isSeenAs = (text: string | undefined, seen: string): boolean =>
  text !== undefined && seenText(text) === seen;

function contains(read: ReadText, part: string): Condition {
  const rankOf = createTextRank(part);
  // White space alone is searched for literally.
  const isIn =
    seenText(part) === ''
      ? (text: string) => text.includes(part)
      : (text: string) => rankOf(text) !== undefined;
  return (node) => {
    const text = read(node);
    return text !== undefined && isIn(text);
  };
}
