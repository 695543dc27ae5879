import { nodesBelow } from '../agent/nodes/node-search.ts';
import { seenText } from '../texts/seen-text.ts';
import { isChangingText } from './changing-text.ts';
import { type Condition, toNodeConditions } from './conditions.ts';
import { mayBeLossy } from './lossy-text.ts';

const maxLabelLength = 60;

/** A screen with what is asked of it again and again. */
export class LabelledScreen {
  readonly root: AndroidNode;
  readonly nodes: readonly AndroidNode[];
  /** How many nodes have a text, or a description. */
  readonly #labels = new Map<string, number>();
  readonly #switchTexts = new Map<string, number>();

  constructor(root: AndroidNode) {
    this.root = root;
    this.nodes = nodesBelow(root);
    for (const node of this.nodes) {
      for (const kind of labelKinds) if (isThere(node[kind])) countIn(this.#labels, keyOf(kind, node[kind]));
      if (isToggle(node) && isThere(node.text)) countIn(this.#switchTexts, seenText(node.text));
    }
  }

  find(conditions: readonly Condition[]): AndroidNode[] {
    return this.root.filterAdvanced(toNodeConditions(conditions));
  }

  /** A text that several switches have is their state, in whatever language. */
  isState(node: AndroidNode, text: string): boolean {
    return (
      isField(node) ||
      isChangingText(text) ||
      (isToggle(node) && (this.#switchTexts.get(seenText(text)) ?? 0) > 1)
    );
  }

  /** Nodes that no other has the text of, or the description, and whose words stay. */
  listLabels(kind: LabelKind): AndroidNode[] {
    return this.nodes.filter((node) => {
      const { [kind]: words, isVisible } = node;
      if (!isVisible || !isThere(words) || words.length > maxLabelLength) return false;
      const isOnly = this.#labels.get(keyOf(kind, words)) === 1;
      return isOnly && !isToggle(node) && !this.isState(node, words) && !mayBeLossy(words);
    });
  }
}

/** The sources of a label. Descriptions are of pictures where a label has a text. */
export const labelKinds = ['text', 'description'] as const;
export type LabelKind = (typeof labelKinds)[number];

export const isThere = (words: string | undefined): words is string => words !== undefined && words !== '';
const keyOf = (kind: LabelKind, words: string): string => `${kind} ${seenText(words)}`;
export const isOnlyDescribed = ({ text, description }: AndroidNode): boolean =>
  !isThere(text) && isThere(description);

/** The condition that says the same as the words of a node, letter by letter. */
export const wordsOf = (kind: LabelKind, value: string): Condition => ({
  method: kind === 'text' ? 'hasText' : 'hasDescription',
  value,
});

const countIn = (counts: Map<string, number>, text: string): void =>
  void counts.set(text, (counts.get(text) ?? 0) + 1);

export const classOf = (node: AndroidNode): string => node.className?.split('.').at(-1) ?? '';
const isToggle = (node: AndroidNode): boolean => /(Switch|SwitchCompat|ToggleButton)$/.test(classOf(node));
/** Its text is what somebody has typed, or a hint that goes when somebody types. */
export const isField = (node: AndroidNode): boolean =>
  node.isPassword || /(EditText|AutoCompleteTextView)$/.test(classOf(node));
