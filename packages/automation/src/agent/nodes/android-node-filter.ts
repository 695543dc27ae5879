import {
  descendantsOf,
  distanceBeside,
  isBelow,
  rootOf,
  sides,
  nodesBelow,
  bestFirst,
} from './node-search.ts';
import { textConditions } from './text-conditions.ts';

type Condition = (node: AndroidNode) => boolean;

interface Rules {
  readonly conditions: readonly Condition[];
  /** Distances in pixels from the anchors of relations; the nearest nodes come first. */
  readonly distances: readonly ((node: AndroidNode) => number)[];
  /** Index of the wanted node among the matches; undefined selects all of them. */
  readonly position: number | undefined;
  /** Texts that must appear on the node, and the conditions on its anchors. */
  readonly wanted: readonly (string | RegExp | NodeConditions)[];
}

/** Rules of each filter, stored outside of it so that the filter object has only methods. */
const rulesOfFilter = new WeakMap<AndroidNodeFilter, Rules>();
const noRules: Rules = { conditions: [], distances: [], position: undefined, wanted: [] };

/** Returns the matching nodes among the root and its descendants. */
export function selectNodes(root: AndroidNode, conditions: NodeConditions): AndroidNode[] {
  const rules = rulesOf(conditions(createFilter(noRules)));
  const found = nodesBelow(root).filter((node) => rules.conditions.every((condition) => condition(node)));
  const nearest = rules.distances.length === 0 ? found : nearestFirst(found, rules.distances);
  if (rules.position === undefined) return nearest;
  const chosen = nearest.at(rules.position);
  return chosen === undefined ? [] : [chosen];
}

function nearestFirst(nodes: readonly AndroidNode[], distances: Rules['distances']): AndroidNode[] {
  return nodes
    .map((node) => ({ node, away: distances.reduce((sum, distance) => sum + distance(node), 0) }))
    .sort((a, b) => a.away - b.away)
    .map(({ node }) => node);
}

function createFilter(rules: Rules): AndroidNodeFilter {
  const and = (condition: Condition, ...wanted: (Rules['wanted'][number] | undefined)[]): AndroidNodeFilter =>
    createFilter({
      ...rules,
      conditions: [...rules.conditions, condition],
      wanted: [...rules.wanted, ...wanted.filter((one) => one !== undefined)],
    });
  const filter = {
    ...classConditions(and),
    ...stateConditions(and),
    ...textConditions(and),
    ...familyConditions(and),
    ...sideConditions(rules),
    ...groupConditions(and),
    nth: (position: number) => createFilter({ ...rules, position: wholeNumber(position) }),
  };
  rulesOfFilter.set(filter, rules);
  return filter;
}

function rulesOf(filter: AndroidNodeFilter): Rules {
  const rules = rulesOfFilter.get(filter);
  if (rules !== undefined) return rules;
  throw new TypeError('A filter function must give back the filter it got: f => f.isEditText().');
}

/** Returns the test of a single node's own conditions. */
function conditionOf(conditions: NodeConditions): Condition {
  const rules = rulesOf(conditions(createFilter(noRules)));
  if (rules.position !== undefined)
    throw new TypeError('nth() picks one of all nodes: it has no meaning within another condition.');
  return (node) => rules.conditions.every((condition) => condition(node));
}

type And = (condition: Condition, ...wanted: NodeConditions[]) => AndroidNodeFilter;

function classConditions(and: And) {
  const ofClass = (pattern: RegExp) => () => and(({ className }) => pattern.test(lastPart(className)));
  return {
    isButton: ofClass(/(?<!Radio)Button$/),
    isEditText: ofClass(/(EditText|AutoCompleteTextView)$/),
    isTextView: ofClass(/(?<!AutoComplete)TextView$/),
    isImage: ofClass(/Image(View|Button)?$/),
    isCheckBox: ofClass(/CheckBox$/),
    isRadioButton: ofClass(/RadioButton$/),
    isSwitch: ofClass(/Switch(Compat)?$/),
    isWebView: ofClass(/WebView$/),
    hasClass: (name: string) => and(({ className }) => className === name || lastPart(className) === name),
    hasPackage: (name: string) => and(({ packageName }) => packageName === name),
  };
}

function stateConditions(and: And) {
  return {
    isClickable: () => and((node) => node.clickable),
    isLongClickable: () => and((node) => node.isLongClickable),
    isEnabled: () => and((node) => node.isEnabled),
    isCheckable: () => and((node) => node.isCheckable),
    isChecked: () => and((node) => node.isChecked),
    isFocusable: () => and((node) => node.isFocusable),
    isFocused: () => and((node) => node.isFocused),
    isPassword: () => and((node) => node.isPassword),
    isScrollable: () => and((node) => node.isScrollable),
    isSelected: () => and((node) => node.isSelected),
    isVisible: () => and((node) => node.isVisible),
    hasChildren: () => and((node) => node.children.length > 0),
  };
}

function familyConditions(and: And) {
  return {
    childOf(anchor: NodeAnchor) {
      const anchors = anchorsOf(anchor);
      return and((node) => isBelow(node, anchors(node)), ...wantedOf(anchor));
    },
    hasChild(conditions: NodeConditions) {
      const isMet = conditionOf(conditions);
      return and((node) => node.children.some(isMet), conditions);
    },
    hasDescendant(conditions: NodeConditions) {
      const isMet = conditionOf(conditions);
      return and((node) => descendantsOf(node).some(isMet), conditions);
    },
    hasIndex: (index: number) => and((node) => node.index === index),
  };
}

function sideConditions(rules: Rules) {
  const beside = (side: (typeof sides)[keyof typeof sides]) => (anchor: NodeAnchor) => {
    const anchors = anchorsOf(anchor);
    const distance = (node: AndroidNode): number => distanceBeside(node, anchors(node), side);
    return createFilter({
      ...rules,
      conditions: [...rules.conditions, (node) => distance(node) < Infinity],
      distances: [...rules.distances, distance],
      wanted: [...rules.wanted, ...wantedOf(anchor)],
    });
  };
  return {
    below: beside(sides.below),
    above: beside(sides.above),
    leftOf: beside(sides.leftOf),
    rightOf: beside(sides.rightOf),
  };
}

const wantedOf = (anchor: NodeAnchor): NodeConditions[] => (typeof anchor === 'function' ? [anchor] : []);

/** Returns the function that finds the anchors on the whole screen of a node. The result is cached per screen. */
function anchorsOf(anchor: NodeAnchor): (node: AndroidNode) => readonly AndroidNode[] {
  if (typeof anchor !== 'function') return () => [anchor];
  const known = new WeakMap<AndroidNode, readonly AndroidNode[]>();
  return (node) => {
    const root = rootOf(node);
    const anchors = known.get(root) ?? selectNodes(root, anchor);
    known.set(root, anchors);
    return anchors;
  };
}

function groupConditions(and: And) {
  return {
    where: (condition: Condition) => and((node) => Boolean(condition(node))),
    not(conditions: NodeConditions) {
      const isMet = conditionOf(conditions);
      return and((node) => !isMet(node));
    },
    anyOf(...groups: NodeConditions[]) {
      const areMet = groups.map(conditionOf);
      return and((node) => areMet.some((isMet) => isMet(node)), ...groups);
    },
  };
}

function wholeNumber(position: number): number {
  if (Number.isSafeInteger(position)) return position;
  throw new TypeError(`nth takes a whole number, but it got ${String(position)}.`);
}

function lastPart(className: string | null): string {
  return className === null ? '' : className.slice(className.lastIndexOf('.') + 1);
}

const maxWordsLength = 200;

/** Target of a search: its description for errors and its matches on a screen, best first. */
interface TargetSearch {
  readonly awaited: string;
  /** Required texts, in any order. */
  readonly near: () => readonly (string | RegExp)[];
  readonly findAll: (screen: AndroidNode) => AndroidNode[];
}

export function searchOf(target: string | RegExp | NodeConditions): TargetSearch {
  if (typeof target === 'function') {
    return {
      // The source text of the conditions, which the author recognizes.
      awaited: `a node by ${String(target).replaceAll(/\s+/g, ' ').slice(0, maxWordsLength)}`,
      near: () => textsWanted(target),
      findAll: (screen) => selectNodes(screen, target),
    };
  }
  return {
    awaited: `the text ${quoted(target)}`,
    near: () => [target instanceof RegExp ? target : String(target)],
    findAll: (screen) => bestFirst(screen, target),
  };
}

const quoted = (text: string | RegExp): string => (text instanceof RegExp ? String(text) : `"${text}"`);

/** Maximum number of texts collected. No author writes more; generated conditions may be endless. */
const maxWanted = 20;

function textsWanted(target: NodeConditions): (string | RegExp)[] {
  const texts: (string | RegExp)[] = [];
  const waiting: NodeConditions[] = [target];
  for (let asked = 0; asked < maxWanted; asked += 1) {
    const conditions = waiting.shift();
    if (conditions === undefined) break;
    for (const one of rulesOf(conditions(createFilter(noRules))).wanted)
      if (typeof one === 'function') waiting.push(one);
      else texts.push(one);
  }
  return texts;
}
