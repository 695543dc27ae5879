import type { ScreenTree, UiNode } from '@phalanx/protocol';

/** Longer texts are content rather than labels. */
const maxLabelLength = 60;
const minPersonalDigits = 4;
const texts = ['text', 'description', 'hintText', 'tooltipText'] as const;

/** A place of the tree whose text was replaced. */
export interface Replaced {
  node: UiNode;
  name: (typeof texts)[number];
  original: string;
  disguise: string;
}

/**
 * A copy in which texts that say something of a person, or that a person has typed, are letters of the same length; and
 * what was replaced, so that it can be put back.
 */
export function scrub(tree: ScreenTree): { tree: ScreenTree; replaced: Replaced[] } {
  const copy = structuredClone(tree);
  const replaced: Replaced[] = [];
  const waiting = [copy.root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    for (const name of texts) {
      const original = node[name];
      if (original === null || !isPersonal(node, name, original)) continue;
      const disguise = node.password ? '•'.repeat(original.length) : disguised(original);
      node[name] = disguise;
      if (!node.password && disguise !== original) replaced.push({ node, name, original, disguise });
    }
    waiting.push(...node.children);
  }
  delete copy.announced;
  delete copy.treeId;
  return { tree: copy, replaced };
}

function isPersonal(node: UiNode, name: string, text: string): boolean {
  const isTyped = name === 'text' && (node.password || (isEditable(node) && !node.isShowingHintText));
  const digits = text.replaceAll(/\D/g, '').length;
  return isTyped || digits >= minPersonalDigits || text.length > maxLabelLength || /\S@\S/.test(text);
}

const isEditable = ({ className }: UiNode): boolean => /EditText|AutoComplete/.test(className ?? '');

const disguised = (text: string): string =>
  text
    .replaceAll(/\p{Lu}/gu, 'X')
    .replaceAll(/\p{L}/gu, (letter) => (letter === 'X' ? 'X' : 'x'))
    .replaceAll(/\d/g, '0');
