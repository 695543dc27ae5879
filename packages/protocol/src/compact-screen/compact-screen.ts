import { shortText, type ShownNode, shownNode } from './shown-node.ts';

const maxLines = 200;
const maxTextsJoined = 5;
const maxDepth = 10;

interface Line {
  readonly node: ShownNode;
  readonly depth: number;
  /** The texts of what it has and no other line has. */
  readonly texts: string[];
}

interface Walk {
  readonly lines: Line[];
  plain: number;
  invisible: number;
}

interface Place {
  readonly depth: number;
  /** What is touched when somebody touches there. */
  readonly touched: Line | undefined;
}

interface Shown {
  readonly width: number;
  readonly height: number;
  readonly tree: { readonly packageName: string; readonly root: unknown };
}

/**
 * A screen in some 300 tokens: a numbered line for each thing that can be read or touched, and the count of what is
 * left out. Texts of a phone stand in quotes, on their line; those of password fields are left out.
 */
export function compactScreen({ width, height, tree }: Shown): string[] {
  const walk: Walk = { lines: [], plain: 0, invisible: 0 };
  visit(tree.root, { depth: 0, touched: undefined }, walk);
  const told = walk.lines.filter(isTold);
  const kept = told.slice(0, maxLines);
  const plain = walk.plain + walk.lines.length - told.length;
  const idCounts = countIds(kept);
  return [
    `app ${JSON.stringify(shortText(tree.packageName))}, ${width}×${height}`,
    ...kept.map((line, index) => lineText(line, index + 1, idCounts)),
    `left out: ${plain} nodes without a text of their own or a touch, ${walk.invisible} not visible` +
      (told.length > maxLines ? `, ${told.length - maxLines} beyond ${maxLines} lines` : ''),
  ];
}

function visit(value: unknown, place: Place, walk: Walk): void {
  const node = shownNode(value);
  // What is below a node that is not visible may be: Android says it of each.
  if (!node.isVisible) walk.invisible += 1;
  const line = node.isVisible ? lineOf(node, place, walk) : undefined;
  const inside = {
    depth: place.depth + (line !== undefined && node.isScroller ? 1 : 0),
    touched: node.isScroller ? undefined : line?.node.isTouchable === true ? line : place.touched,
  };
  for (const child of node.children) visit(child, inside, walk);
}

function lineOf(node: ShownNode, { depth, touched }: Place, walk: Walk): Line | undefined {
  const isOwn = node.isTouchable || node.isScroller || (touched === undefined && node.label !== '');
  if (!isOwn) {
    if (touched !== undefined && node.label !== '') touched.texts.push(node.label);
    else walk.plain += 1;
    return undefined;
  }
  const line = { node, depth: Math.min(depth, maxDepth), texts: node.label === '' ? [] : [node.label] };
  walk.lines.push(line);
  return line;
}

/** A touchable frame around touchable things has no word to tell it by; a control without a word is still one. */
const isTold = ({ node, texts }: Line): boolean => texts.length > 0 || node.id !== '' || node.kind !== 'item';

function countIds(lines: readonly Line[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { node } of lines) counts.set(node.id, (counts.get(node.id) ?? 0) + 1);
  return counts;
}

function lineText(
  { node, depth, texts }: Line,
  number: number,
  idCounts: ReadonlyMap<string, number>,
): string {
  const { kind, id, states } = node;
  const isIdShown = id !== '' && (texts.length === 0 || idCounts.get(id) === 1);
  const shownId = /^[\w.$-]+$/.test(id) ? id : JSON.stringify(id);
  const parts = [
    ...[number, kind],
    ...(texts.length === 0 ? [] : [joined(texts)]),
    ...(isIdShown ? [`#${shownId}`] : []),
    ...states,
  ];
  return `${'  '.repeat(depth)}${parts.join(' ')}`;
}

/** Parents often say again what their children say. */
function joined(texts: readonly string[]): string {
  const [...different] = new Set(texts);
  const shown = JSON.stringify(different.slice(0, maxTextsJoined).join(' · '));
  const more = different.length - maxTextsJoined;
  return more > 0 ? `${shown} (${more} more texts)` : shown;
}
