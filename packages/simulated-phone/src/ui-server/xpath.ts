import { elementName, sourceAttributes } from '../screen/source-xml.ts';
import type { VisibleView } from '../view/find-view.ts';
import { walk } from '../view/find-view.ts';
import { parseXPath, type Predicate, type Step, type Value } from './xpath-parser.ts';

type Attributes = Record<string, string | undefined>;

interface Context {
  readonly attributes: Attributes;
  /** Counted from 1, as XPath does. */
  readonly position: number;
  readonly last: number;
}

function valueOf(value: Value, { attributes }: Context): string {
  return value.kind === 'attribute' ? (attributes[value.name] ?? '') : value.text;
}

function holds(predicate: Predicate, context: Context): boolean {
  switch (predicate.kind) {
    case 'position':
      return context.position === predicate.position;
    case 'last':
      return context.position === context.last;
    case 'exists':
      return context.attributes[predicate.name] !== undefined;
    case 'compare': {
      const isEqual = valueOf(predicate.left, context) === valueOf(predicate.right, context);
      return isEqual === predicate.isEqual;
    }
    case 'contains':
      return valueOf(predicate.left, context).includes(valueOf(predicate.right, context));
    case 'starts-with':
      return valueOf(predicate.left, context).startsWith(valueOf(predicate.right, context));
    case 'not':
      return !holds(predicate.inner, context);
    case 'and':
      return predicate.parts.every((part) => holds(part, context));
    default:
      return predicate.parts.some((part) => holds(part, context));
  }
}

function matchStep(candidates: readonly VisibleView[], step: Step): VisibleView[] {
  let matches = candidates.filter(
    ({ view }) => step.name === '*' || step.name === elementName(view.className),
  );
  for (const predicate of step.predicates) {
    const last = matches.length;
    matches = matches.filter((visible, index) =>
      holds(predicate, { attributes: sourceAttributes(visible, index), position: index + 1, last }),
    );
  }
  return matches;
}

/** The real root is above the window's: `/hierarchy`. */
function topOf(root: VisibleView): VisibleView {
  const view = { className: 'hierarchy', packageName: '', frame: root.bounds };
  return { view, bounds: root.bounds, children: [root] };
}

/** Matches in document order. Throws "invalid selector". */
export function findByXPath(root: VisibleView, xpath: string): VisibleView[] {
  const top = topOf(root);
  let current: VisibleView[] = [{ ...top, children: [top] }];
  for (const step of parseXPath(xpath)) {
    const next = new Set<VisibleView>();
    for (const start of current) {
      // "//x[1]" is the first x of each parent, as in XPath.
      const parents = step.isDeep ? walk(start).toArray() : [start];
      for (const parent of parents) for (const match of matchStep(parent.children, step)) next.add(match);
    }
    current = [...next];
  }
  const order = walk(root).toArray();
  return order.filter((visible) => current.includes(visible));
}
