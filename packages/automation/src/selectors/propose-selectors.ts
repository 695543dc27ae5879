import { distanceBeside, rootOf, sides, nodesBelow } from '../agent/nodes/node-search.ts';
import { nearestLabels } from './nearest-labels.ts';
import { isChangingText } from './changing-text.ts';
import { mayBeLossy } from './lossy-text.ts';
import {
  type Condition,
  type KindMethod,
  quote,
  type SideMethod,
  toNodeConditions,
  writeConditions,
} from './conditions.ts';

/** Code that finds a node of a screen, tried on that screen by the runtime's own matcher. */
export interface SelectorProposal {
  readonly kind: SelectorKind;
  /** The expression that waits for the node: `agent.actions.waitForId('name')`. */
  readonly wait: string;
  /** The same for a screen that was read: `screen.findById('name')`. */
  readonly find: string;
  /** The node as an argument of `scrollTo`: `(f) => f.hasId('name')`. */
  readonly target: string;
  /** The statement that uses the node: `await (await agent.actions.waitForId('name')).tap();` */
  readonly code: string;
  /** How many nodes match. */
  readonly count: number;
  /** Which of them the code gives: this node alone, this one as the nearest, this one as the first, or another one. */
  readonly finds: 'alone' | 'nearest' | 'first' | 'another';
  /** What makes the code find another node, or none: a state that changes, or another order of the nodes. */
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

/** How a way to find a node is written. */
type Written = Pick<SelectorProposal, 'wait' | 'find' | 'target'>;

interface Candidate extends Written {
  readonly kind: SelectorKind;
  readonly found: readonly AndroidNode[];
  readonly dependsOn?: SelectorProposal['dependsOn'];
  /** Whether the first of `found` is nearer to its label than the next. */
  readonly isNearest?: boolean;
  /** Of candidates that find the node equally well, the lower goes first. */
  readonly order: number;
}

const mostProposals = 8;
const mostLabelLength = 60;

/** The ways to find a node, the most lasting first; those that depend on a state come last. */
export function proposeSelectors(node: AndroidNode): SelectorProposal[] {
  const screen = new Screen(rootOf(node));
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
    .slice(0, mostProposals);
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

/** A screen with what is asked of it again and again. */
class Screen {
  readonly root: AndroidNode;
  readonly nodes: readonly AndroidNode[];
  /** How many nodes have a text. */
  readonly #texts = new Map<string, number>();
  readonly #switchTexts = new Map<string, number>();

  constructor(root: AndroidNode) {
    this.root = root;
    this.nodes = nodesBelow(root);
    for (const node of this.nodes) {
      if (node.text === undefined || node.text === '') continue;
      countIn(this.#texts, node.text);
      if (isToggle(node)) countIn(this.#switchTexts, node.text);
    }
  }

  find(conditions: readonly Condition[]): AndroidNode[] {
    return this.root.filterAdvanced(toNodeConditions(conditions));
  }

  /** A text that several switches have is their state, in whatever language. */
  isState(node: AndroidNode, text: string): boolean {
    return (
      isField(node) || isChangingText(text) || (isToggle(node) && (this.#switchTexts.get(text) ?? 0) > 1)
    );
  }

  /** Nodes that no other has the text of, and whose text stays. */
  listLabels(): AndroidNode[] {
    return this.nodes.filter((node) => {
      const { text = '', isVisible } = node;
      if (!isVisible || text === '' || text.length > mostLabelLength || this.#texts.get(text) !== 1)
        return false;
      return !isToggle(node) && !this.isState(node, text) && !mayBeLossy(text);
    });
  }
}

const countIn = (counts: Map<string, number>, text: string): void =>
  void counts.set(text, (counts.get(text) ?? 0) + 1);

const classOf = (node: AndroidNode): string => node.className?.split('.').at(-1) ?? '';
const isToggle = (node: AndroidNode): boolean => /(Switch|SwitchCompat|ToggleButton)$/.test(classOf(node));
/** Its text is what somebody has typed, or a hint that goes when somebody types. */
const isField = (node: AndroidNode): boolean =>
  node.isPassword || /(EditText|AutoCompleteTextView)$/.test(classOf(node));

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

/** IDs that Android's own lists give to each of their rows. */
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

function byId({ root }: Screen, node: AndroidNode): Candidate[] {
  const id = idOf(node);
  if (id === undefined || node.viewId === undefined) return [];
  const order = rowIds.has(node.viewId) ? 50 : 0;
  return [{ kind: 'id', ...byItsId(id), found: root.findAllById(id), order }];
}

function byText(screen: Screen, node: AndroidNode): Candidate[] {
  const { text = '', description = '' } = node;
  const loose = (kind: 'text' | 'description', value: string): Candidate[] => {
    if (value === '') return [];
    const all = screen.root.findText(value);
    const first = screen.root.findTextOne(value);
    const found = first === null ? [] : [first, ...all.filter((one) => one !== first)];
    const dependsOn = screen.isState(node, value) ? 'state' : undefined;
    return [{ kind, ...byWords(value), found, order: orderOf(value, 10), dependsOn }];
  };
  return [
    ...loose('text', text),
    // Both are looked for by the same words.
    ...(description === text ? [] : loose('description', description)),
    ...exactText(screen, node, text),
  ];
}

/** Texts that other phones of a fleet may tell otherwise come after what all of them tell. */
const orderOf = (text: string, order: number): number => order + (mayBeLossy(text) ? 60 : 0);

/** Where the words are also part of other texts, or other kinds of nodes have them. */
function exactText(screen: Screen, node: AndroidNode, text: string): Candidate[] {
  if (text === '' || screen.root.findText(text).length === 1) return [];
  const hasText: Condition = { method: 'hasText', value: text };
  const plain = screen.find([hasText]);
  const kind = kindOf(screen, node);
  const conditions = plain.length === 1 || kind === undefined ? [hasText] : [kind, hasText];
  const dependsOn = screen.isState(node, text) ? 'state' : undefined;
  return [
    {
      kind: 'exact text',
      ...byConditions(conditions),
      found: screen.find(conditions),
      order: orderOf(text, 15),
      dependsOn,
    },
  ];
}

const kinds: readonly KindMethod[] = [
  ...(['isSwitch', 'isCheckBox', 'isRadioButton', 'isEditText', 'isButton'] as const),
  ...(['isImage', 'isTextView', 'isWebView'] as const),
];
/** They say nothing of what a node is for. */
const plainClass = /(^|\.)(View|ViewGroup|\w*Layout)$/;

/** What the node is, in the words of the filter. */
function kindOf({ root }: Pick<Screen, 'root'>, node: AndroidNode): Condition | undefined {
  const method = kinds.find((one) => node.filterOne((filter) => filter[one]()) === node);
  if (method !== undefined) return { method };
  const name = classOf(node);
  if (name !== '' && !plainClass.test(name) && node !== root) return { method: 'hasClass', value: name };
  if (node.clickable) return { method: 'isClickable' };
  return node.isScrollable ? { method: 'isScrollable' } : undefined;
}

/** A row by what stands in it. */
function byContent(screen: Screen, node: AndroidNode): Candidate[] {
  const kind: Condition | undefined = node.clickable ? { method: 'isClickable' } : kindOf(screen, node);
  if (kind === undefined || node.children.length === 0) return [];
  const inside = new Set(nodesBelow(node).slice(1));
  return screen
    .listLabels()
    .filter((label) => inside.has(label))
    .slice(0, 1)
    .map((label) => {
      const conditions = [kind, { method: 'hasDescendant', of: [textOf(label)] }] as const;
      return { kind: 'content', ...byConditions(conditions), found: screen.find(conditions), order: 20 };
    });
}

const textOf = ({ text = '' }: AndroidNode): Condition => ({ method: 'hasText', value: text });

/** By a label beside the node: to its left, to its right, above or below it. */
function byRelation(screen: Screen, node: AndroidNode): Candidate[] {
  const kind = kindOf(screen, node);
  if (kind === undefined) return [];
  const labels = screen.listLabels().filter((label) => label !== node);
  const labelled = (methods: readonly SideMethod[]): Candidate[] =>
    methods.flatMap((side) =>
      nearestLabels(node, labels, side)
        .map((label) => besideLabel(screen, { kind, label, side }))
        .filter(({ found, isNearest }) => found[0] === node && (found.length === 1 || isNearest))
        .slice(0, 1),
    );
  const inRow = labelled(['rightOf', 'leftOf']);
  // What stands above a row with a label of its own is another row's.
  const hits = inRow.length > 0 ? inRow : labelled(['below', 'above']);
  return hits.slice(0, 2).map((hit, index) => ({ ...hit, order: 30 + index }));
}

interface Beside {
  readonly kind: Condition;
  readonly label: AndroidNode;
  readonly side: SideMethod;
}

function besideLabel(screen: Screen, { kind, label, side }: Beside): Candidate & { isNearest: boolean } {
  const conditions = [kind, { method: side, of: [textOf(label)] }] as const;
  const found = screen.find(conditions);
  const [first = Infinity, second = Infinity] = found
    .slice(0, 2)
    .map((one) => distanceBeside(one, [label], sides[side]));
  return { kind: 'relation', ...byConditions(conditions), found, isNearest: first < second, order: 30 };
}

/** Below the nearest ancestor that has an ID of its own. */
function byContainer(screen: Screen, node: AndroidNode): Candidate[] {
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

function containedAs(screen: Screen, node: AndroidNode): Condition | undefined {
  const id = idOf(node);
  if (id !== undefined) return { method: 'hasId', value: id };
  const { text = '' } = node;
  return text === '' || screen.isState(node, text) ? kindOf(screen, node) : textOf(node);
}

/** The only way that is left where the words of a list are in another language. */
function byPosition(screen: Screen, node: AndroidNode): Candidate[] {
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
