import { distanceBeside, nodesBelow, rootOf, sides } from '../agent/nodes/node-search.ts';
import { seenText } from '../texts/seen-text.ts';
import { firstLine } from '../texts/text-rank.ts';
import { type Condition, type KindMethod, quote, type SideMethod, writeConditions } from './conditions.ts';
import {
  classOf,
  isField,
  isOnlyDescribed,
  isThere,
  LabelledScreen,
  type LabelKind,
  labelKinds,
  wordsOf,
} from './labelled-screen.ts';
import { mayBeLossy } from './lossy-text.ts';
import { nearestLabels } from './nearest-labels.ts';

/** Code that finds a node of a screen, verified on that screen by the runtime's own matcher. */
export interface SelectorProposal {
  readonly kind: SelectorKind;
  /** Expression that waits for the node: `agent.actions.waitForId('name')`. */
  readonly wait: string;
  /** Expression that finds the node on a screen: `screen.findById('name')`. */
  readonly find: string;
  /** Argument of `scrollTo` for the node: `(f) => f.hasId('name')`. */
  readonly target: string;
  /** Statement that uses the node: `await (await agent.actions.waitForId('name')).tap();` */
  readonly code: string;
  /** Number of matching nodes. */
  readonly count: number;
  /** Match that the code returns: this node as the only one, as the nearest or as the first, or another node. */
  readonly finds: 'alone' | 'nearest' | 'first' | 'another';
  /** Change that can make the code find another node or none: of a state, or of the order of nodes. */
  readonly dependsOn: 'state' | 'order' | undefined;
}

type SelectorKind =
  | 'id'
  | 'text'
  | 'description'
  | 'exact text'
  | 'relation'
  | 'content'
  | 'container'
  | 'position';

/** Written forms of a way to find a node. */
type Written = Pick<SelectorProposal, 'wait' | 'find' | 'target'>;

interface Candidate extends Written {
  readonly kind: SelectorKind;
  readonly found: readonly AndroidNode[];
  readonly dependsOn?: SelectorProposal['dependsOn'];
  /** Whether the first node of `found` is nearer to its label than the next. */
  readonly isNearest?: boolean;
  /** Rank among candidates that find the node equally well, lowest first. */
  readonly order: number;
}

const maxProposals = 8;

/** Returns the ways to find a node, the most stable first; those that depend on a state come last. */
export function proposeSelectors(node: AndroidNode): SelectorProposal[] {
  const screen = new LabelledScreen(rootOf(node));
  const candidates = [
    ...byId(screen, node),
    ...byText(screen, node),
    ...byContent(screen, node),
    ...byRelation(screen, node),
    ...byContainer(screen, node),
    ...byPosition(screen, node),
  ];
  return candidates
    .map((candidate) => ({ candidate, proposal: proposalOf(candidate, node) }))
    .toSorted((one, other) => rankOf(one) - rankOf(other))
    .map(({ proposal }) => proposal)
    .slice(0, maxProposals);
}

function proposalOf(candidate: Candidate, node: AndroidNode): SelectorProposal {
  const { kind, wait, find, target, found, dependsOn, isNearest } = candidate;
  const finds =
    found[0] !== node ? 'another' : found.length === 1 ? 'alone' : isNearest === true ? 'nearest' : 'first';
  const use = isField(node) ? "writeText('')" : 'tap()';
  const code = `await (await ${wait}).${use};`;
  return { kind, wait, find, target, code, count: found.length, finds, dependsOn };
}

function rankOf({ candidate, proposal }: { candidate: Candidate; proposal: SelectorProposal }): number {
  const class_ =
    proposal.dependsOn === 'state' ? 4 : proposal.finds === 'another' ? 3 : lastingClass(proposal);
  return class_ * 100 + candidate.order;
}

const lastingClass = ({ dependsOn, finds }: SelectorProposal): number =>
  dependsOn === 'order' ? 2 : finds === 'first' ? 1 : 0;

function byConditions(conditions: readonly Condition[]): Written {
  const target = writeConditions(conditions);
  return { wait: `agent.actions.waitForNode(${target})`, find: `screen.filterOne(${target})`, target };
}

function byWords(text: string): Written {
  const target = quote(text);
  return { wait: `agent.actions.waitForText(${target})`, find: `screen.findTextOne(${target})`, target };
}

const byItsId = (id: string): Written => ({
  wait: `agent.actions.waitForId(${quote(id)})`,
  find: `screen.findById(${quote(id)})`,
  target: writeConditions([{ method: 'hasId', value: id }]),
});

/** IDs that Android's own lists repeat in each row. */
const rowIds = new Set(
  [
    'title',
    'summary',
    'icon',
    'switch_widget',
    'checkbox',
    'text1',
    'text2',
    'widget_frame',
    'icon_frame',
  ].map((name) => `android:id/${name}`),
);

const idOf = ({ viewId }: AndroidNode): string | undefined => viewId?.split(':id/').at(-1);

function byId({ root }: LabelledScreen, node: AndroidNode): Candidate[] {
  const id = idOf(node);
  if (id === undefined || node.viewId === undefined) return [];
  const order = rowIds.has(node.viewId) ? 50 : 0;
  return [{ kind: 'id', ...byItsId(id), found: root.findAllById(id), order }];
}

function byText(screen: LabelledScreen, node: AndroidNode): Candidate[] {
  const { text = '', description = '' } = node;
  // The same search covers both.
  const others = seenText(description) === seenText(text) ? '' : description;
  return [...byWordsOf(screen, node, ['text', text]), ...byWordsOf(screen, node, ['description', others])];
}

function byWordsOf(
  screen: LabelledScreen,
  node: AndroidNode,
  [kind, words]: [LabelKind, string],
): Candidate[] {
  if (words === '') return [];
  const line = firstLine(words);
  return [
    looseWords(screen, node, { kind, words, order: 10 }),
    // A name often stays the same while the line below it shows a count or a state.
    ...(line === words ? [] : [looseWords(screen, node, { kind, words: line, order: 11 })]),
    ...exactWords(screen, node, [kind, words]),
  ];
}

/** Returns the order of a candidate: texts that other phones of a fleet may report differently come later. */
const orderOf = (words: string, order: number): number => order + (mayBeLossy(words) ? 60 : 0);

interface Words {
  readonly kind: LabelKind;
  readonly words: string;
  readonly order: number;
}

function looseWords(screen: LabelledScreen, node: AndroidNode, { kind, words, order }: Words): Candidate {
  const all = screen.root.findText(words);
  const first = screen.root.findTextOne(words);
  const found = first === null ? [] : [first, ...all.filter((one) => one !== first)];
  const dependsOn = screen.isState(node, words) ? 'state' : undefined;
  return { kind, ...byWords(words), found, order: orderOf(words, order), dependsOn };
}

/** Returns candidates by exact text, for words that are part of other texts or also appear on other kinds of nodes. */
function exactWords(
  screen: LabelledScreen,
  node: AndroidNode,
  [of, words]: [LabelKind, string],
): Candidate[] {
  if (screen.root.findText(words).length === 1) return [];
  const exact = wordsOf(of, words);
  const kind = kindOf(screen, node);
  const conditions = screen.find([exact]).length === 1 || kind === undefined ? [exact] : [kind, exact];
  const dependsOn = screen.isState(node, words) ? 'state' : undefined;
  const found = screen.find(conditions);
  return [{ kind: 'exact text', ...byConditions(conditions), found, order: orderOf(words, 15), dependsOn }];
}

const kinds: readonly KindMethod[] = [
  ...(['isSwitch', 'isCheckBox', 'isRadioButton', 'isEditText', 'isButton'] as const),
  ...(['isImage', 'isTextView', 'isWebView'] as const),
];
/** Class names that reveal nothing about the purpose of a node. */
const plainClass = /(^|\.)(View|ViewGroup|\w*Layout)$/;

/** Returns the condition for the kind of the node. */
function kindOf({ root }: Pick<LabelledScreen, 'root'>, node: AndroidNode): Condition | undefined {
  const method = kinds.find((one) => node.filterOne((filter) => filter[one]()) === node);
  if (method !== undefined) return { method };
  const name = classOf(node);
  if (name !== '' && !plainClass.test(name) && node !== root) return { method: 'hasClass', value: name };
  if (node.clickable) return { method: 'isClickable' };
  return node.isScrollable ? { method: 'isScrollable' } : undefined;
}

/** Returns a candidate that finds a row by its content. */
function byContent(screen: LabelledScreen, node: AndroidNode): Candidate[] {
  const kind: Condition | undefined = node.clickable ? { method: 'isClickable' } : kindOf(screen, node);
  if (kind === undefined || node.children.length === 0) return [];
  const inside = new Set(nodesBelow(node).slice(1));
  return labelKinds
    .flatMap((of) => screen.listLabels(of).map((label) => ({ of, label })))
    .filter(({ label }) => inside.has(label))
    .slice(0, 1)
    .map(({ of, label }) => {
      const conditions = [kind, { method: 'hasDescendant', of: [wordsOf(of, label[of] ?? '')] }] as const;
      return { kind: 'content', ...byConditions(conditions), found: screen.find(conditions), order: 20 };
    });
}

/** Returns candidates by a label on the left, on the right, above or below the node. */
function byRelation(screen: LabelledScreen, node: AndroidNode): Candidate[] {
  const kind = kindOf(screen, node);
  if (kind === undefined) return [];
  const labelled = (methods: readonly SideMethod[], of: LabelKind): Candidate[] => {
    const labels = screen
      .listLabels(of)
      .filter((label) => label !== node && (of === 'text' || isOnlyDescribed(label)));
    return methods.flatMap((side) =>
      nearestLabels(node, labels, side)
        .map((label) => besideLabel(screen, { kind, label, of, side }))
        .filter(({ found, isNearest }) => found[0] === node && (found.length === 1 || isNearest))
        .slice(0, 1),
    );
  };
  // A label above a row with its own label belongs to another row. A node with its own text is not found by the
  // description of a picture beside it.
  const usable = isThere(node.text) || isThere(node.description) ? (['text'] as const) : labelKinds;
  const ways = usable.flatMap((of) => [() => labelled(inRow, of), () => labelled(inColumn, of)]);
  const hits = ways.reduce<Candidate[]>((found, way) => (found.length > 0 ? found : way()), []);
  return hits.slice(0, 2).map((hit, index) => ({ ...hit, order: 30 + index }));
}

const inRow: readonly SideMethod[] = ['rightOf', 'leftOf'];
const inColumn: readonly SideMethod[] = ['below', 'above'];

interface Beside {
  readonly kind: Condition;
  readonly label: AndroidNode;
  readonly of: LabelKind;
  readonly side: SideMethod;
}

function besideLabel(
  screen: LabelledScreen,
  { kind, label, of, side }: Beside,
): Candidate & { isNearest: boolean } {
  const conditions = [kind, { method: side, of: [wordsOf(of, label[of] ?? '')] }] as const;
  const found = screen.find(conditions);
  const [first = Infinity, second = Infinity] = found
    .slice(0, 2)
    .map((one) => distanceBeside(one, [label], sides[side]));
  return { kind: 'relation', ...byConditions(conditions), found, isNearest: first < second, order: 30 };
}

/** Returns candidates below the nearest ancestor with a unique ID. */
function byContainer(screen: LabelledScreen, node: AndroidNode): Candidate[] {
  const own = containedAs(screen, node);
  if (own === undefined) return [];
  for (let { parent } = node; parent !== null; { parent } = parent) {
    const id = idOf(parent);
    if (id === undefined || screen.root.findAllById(id).length !== 1) continue;
    const conditions = [own, { method: 'childOf', of: [{ method: 'hasId', value: id }] }] as const;
    return [{ kind: 'container', ...byConditions(conditions), found: screen.find(conditions), order: 40 }];
  }
  return [];
}

function containedAs(screen: LabelledScreen, node: AndroidNode): Condition | undefined {
  const id = idOf(node);
  if (id !== undefined) return { method: 'hasId', value: id };
  const of = isOnlyDescribed(node) ? 'description' : 'text';
  const words = node[of];
  return !isThere(words) || screen.isState(node, words) ? kindOf(screen, node) : wordsOf(of, words);
}

/** Returns the candidate by position, the only way left when a list's texts are in another language. */
function byPosition(screen: LabelledScreen, node: AndroidNode): Candidate[] {
  const id = idOf(node);
  const kind: Condition | undefined =
    id === undefined ? kindOf(screen, node) : { method: 'hasId', value: id };
  if (kind === undefined) return [];
  const position = screen.find([kind]).indexOf(node);
  const conditions: readonly Condition[] = [kind, { method: 'nth', position }];
  return [
    {
      kind: 'position',
      ...byConditions(conditions),
      found: screen.find(conditions),
      order: 60,
      dependsOn: 'order',
    },
  ];
}
