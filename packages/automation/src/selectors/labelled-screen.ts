import { nodesBelow } from '../agent/nodes/node-search.ts';
import { seenText } from '../texts/seen-text.ts';
import { isChangingText } from './changing-text.ts';
import { type Condition, toNodeConditions } from './conditions.ts';
import { mayBeLossy } from './lossy-text.ts';

const maxLabelLength = 60;

/** Screen with cached answers to frequent queries. */
export class LabelledScreen {
  readonly root: AndroidNode;
  readonly nodes: readonly AndroidNode[];
  /** Number of nodes by text or description. */
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

  /** Whether a text is a switch state: several switches have the same text, in whatever language. */
  isState(node: AndroidNode, text: string): boolean {
    return (
      isField(node) ||
      isChangingText(text) ||
      (isToggle(node) && (this.#switchTexts.get(seenText(text)) ?? 0) > 1)
    );
  }

  /** Returns nodes with a unique text or description that does not change. */
  listLabels(kind: LabelKind): AndroidNode[] {
    return this.nodes.filter((node) => {
      const { [kind]: words, isVisible } = node;
      if (!isVisible || !isThere(words) || words.length > maxLabelLength) return false;
      const isOnly = this.#labels.get(keyOf(kind, words)) === 1;
      return isOnly && !isToggle(node) && !this.isState(node, words) && !mayBeLossy(words);
    });
  }
}

/** Sources of labels. On nodes with a text, the description belongs to a picture. */
export const labelKinds = ['text', 'description'] as const;
export type LabelKind = (typeof labelKinds)[number];

export const isThere = (words: string | undefined): words is string => words !== undefined && words !== '';
const keyOf = (kind: LabelKind, words: string): string => `${kind} ${seenText(words)}`;
export const isOnlyDescribed = ({ text, description }: AndroidNode): boolean =>
  !isThere(text) && isThere(description);

/** Returns the condition that matches the words of a node exactly. */
export const wordsOf = (kind: LabelKind, value: string): Condition => ({
  method: kind === 'text' ? 'hasText' : 'hasDescription',
  value,
});

const countIn = (counts: Map<string, number>, text: string): void =>
  void counts.set(text, (counts.get(text) ?? 0) + 1);

export const classOf = (node: AndroidNode): string => node.className?.split('.').at(-1) ?? '';
const isToggle = (node: AndroidNode): boolean => /(Switch|SwitchCompat|ToggleButton)$/.test(classOf(node));
/** Whether the text of a node is input, or a hint that disappears on input. */
export const isField = (node: AndroidNode): boolean =>
  node.isPassword || /(EditText|AutoCompleteTextView)$/.test(classOf(node));
