import { contextOf, identify, type NodeIdentity } from './node-identity.ts';
import { shortText, type ShownNode, shownNode } from './shown-node.ts';

const maxLines = 200;
const maxTextsJoined = 5;
const maxDepth = 10;

/** Line of a compact screen, and the node behind it. */
export interface CompactLine {
  /** Text of the line without its number. */
  readonly text: string;
  /** Number of scrollers around the node. */
  readonly depth: number;
  readonly identity: NodeIdentity;
  readonly isTouchable: boolean;
  /** Parts of the text that the line shows. */
  readonly texts: readonly string[];
  /** Texts and descriptions of the node, complete and unchanged. Searches compare with these. */
  readonly said: readonly string[];
  /** Node as it came with the tree. */
  readonly node: unknown;
}

export interface CompactScreen {
  readonly head: string;
  readonly lines: readonly CompactLine[];
  readonly leftOut: string;
}

interface Line {
  readonly source: unknown;
  readonly node: ShownNode;
  readonly depth: number;
  /** Texts of the node's content that belong to no other line. */
  readonly texts: string[];
  readonly said: string[];
  /** Classes and IDs of the node's ancestors. */
  readonly path: string;
  /** Texts beside the node, in the same small part of the screen; undefined until determined. */
  context: string | undefined;
}

interface Walk {
  readonly lines: Line[];
  plain: number;
  invisible: number;
}

interface Place {
  readonly depth: number;
  /** Line of the nearest touchable ancestor, which a touch here would hit. */
  readonly touched: Line | undefined;
  readonly path: readonly string[];
}

export interface Shown {
  readonly width: number;
  readonly height: number;
  readonly tree: { readonly packageName: string; readonly root: unknown };
}

/** Texts of a part of the screen, as many as distinguish it from other parts. */
interface Part {
  readonly texts: { readonly of: Line; readonly text: string }[];
  /** Lines whose context is not determined yet. */
  readonly open: Line[];
  hasScroller: boolean;
}

const maxTextsOfPart = 9;
/** Maximum number of lines with an identity; further lines are never sent. */
const maxLinesIdentified = 4 * maxLines;
const pathLength = 5;

/**
 * Describes a screen in some 300 tokens: a numbered line for each node that can be read or touched, and the number of
 * omitted nodes. Texts of the phone are quoted on their line; texts of password fields are omitted.
 */
export function compactScreen(shown: Shown): string[] {
  const { head, lines, leftOut } = readCompact(shown);
  return [head, ...lines.map((line, index) => numbered(index + 1, line)), leftOut];
}

export const numbered = (number: number, { depth, text }: Pick<CompactLine, 'depth' | 'text'>): string =>
  `${'  '.repeat(depth)}${number} ${text}`;

/** Returns the compact screen as data. */
export function readCompact({ width, height, tree }: Shown): CompactScreen {
  const walk: Walk = { lines: [], plain: 0, invisible: 0 };
  const whole = visit(tree.root, { depth: 0, touched: undefined, path: [] }, walk);
  for (const line of whole.open) line.context = '';
  const listed = walk.lines.filter(isListed);
  const kept = listed.slice(0, maxLines);
  const plain = walk.plain + walk.lines.length - listed.length;
  const idCounts = countIds(kept);
  return {
    head: `app ${JSON.stringify(shortText(tree.packageName))}, ${width}×${height}`,
    lines: withIdentities(kept, idCounts, tree.packageName),
    leftOut:
      `left out: ${plain} nodes without a text of their own or a touch, ${walk.invisible} not visible` +
      (listed.length > maxLines ? `, ${listed.length - maxLines} beyond ${maxLines} lines` : ''),
  };
}

function withIdentities(
  lines: readonly Line[],
  idCounts: ReadonlyMap<string, number>,
  packageName: string,
): CompactLine[] {
  const title = lines.find(({ depth, texts }) => depth === 0 && texts.length > 0)?.texts[0] ?? '';
  const pageContext = contextOf([title]);
  const identities = identify(
    lines.map(({ node, texts, path, context }) => ({
      node,
      path,
      packageName,
      words: wordsOf(node, texts),
      context: context ?? pageContext,
    })),
  );
  return lines.map((line, index) => ({
    text: lineText(line, idCounts),
    depth: line.depth,
    // Each line has an identity.
    identity: identities[index] ?? noIdentity,
    isTouchable: line.node.isTouchable,
    texts: line.texts,
    said: line.said,
    node: line.source,
  }));
}

const maxTextsIdentified = 20;

/**
 * Returns the identifying texts of a node. The text of a field is user input, and that of a switch is its state in any
 * language, so neither of them identifies the node.
 */
const wordsOf = ({ isField, kind, hint }: ShownNode, texts: readonly string[]): string =>
  isField || kind === 'switch' ? hint : texts.slice(0, maxTextsIdentified).join('\u0001');

const noIdentity: NodeIdentity = {
  key: '',
  context: '',
  around: '',
  twins: 0,
  twinsAround: '',
  checked: '',
  place: '',
};

function visit(value: unknown, place: Place, walk: Walk): Part {
  const node = shownNode(value);
  // An invisible node may have visible children: Android reports visibility for each node separately.
  if (!node.isVisible) walk.invisible += 1;
  const line = node.isVisible ? lineOf({ source: value, node }, place, walk) : undefined;
  const inside = {
    depth: place.depth + (line !== undefined && node.isScroller ? 1 : 0),
    touched: node.isScroller ? undefined : line?.node.isTouchable === true ? line : place.touched,
    path: [...place.path.slice(1 - pathLength), `${node.className}#${node.id}`],
  };
  const part = partOf(line ?? (node.label === '' ? undefined : place.touched), node);
  if (line !== undefined && walk.lines.length <= maxLinesIdentified) part.open.push(line);
  for (const child of node.children) join(part, visit(child, inside, walk));
  settle(part, node.isScroller);
  return part;
}

function partOf(of: Line | undefined, { label, hint, isField, isScroller, isVisible }: ShownNode): Part {
  const text = isField ? hint : label;
  return {
    texts: of === undefined || text === '' || !isVisible ? [] : [{ of, text }],
    open: [],
    hasScroller: isScroller,
  };
}

function join(part: Part, { texts, open, hasScroller }: Part): void {
  part.texts.push(...texts.slice(0, Math.max(0, maxTextsOfPart - part.texts.length)));
  part.open.push(...open);
  part.hasScroller ||= hasScroller;
}

/**
 * Sets the context of lines from the smallest part with texts beside them, which distinguishes equal lines. A larger
 * part is the page.
 */
function settle(part: Part, isScroller: boolean): void {
  const isPage = part.hasScroller || part.texts.length >= maxTextsOfPart;
  const stillOpen: Line[] = [];
  for (const line of part.open) {
    const others = part.texts.filter(({ of }) => of !== line && !isControl(of)).map(({ text }) => text);
    if (isScroller) line.context = '';
    else if (others.length === 0) stillOpen.push(line);
    else if (!isPage) line.context = contextOf(others);
  }
  part.open.length = 0;
  part.open.push(...stillOpen);
}

/** Whether the line is a control. Controls give no context, because other dialogs have the same buttons. */
const isControl = ({ node: { kind, checked } }: Line): boolean => kind === 'button' || checked !== '';

function lineOf(
  { source, node }: { source: unknown; node: ShownNode },
  { depth, touched, path }: Place,
  walk: Walk,
): Line | undefined {
  const isOwn = node.isTouchable || node.isScroller || (touched === undefined && node.label !== '');
  if (!isOwn) {
    if (touched === undefined || node.label === '') walk.plain += 1;
    else {
      touched.texts.push(node.label);
      touched.said.push(...node.said);
    }
    return undefined;
  }
  const line: Line = {
    source,
    node,
    context: undefined,
    depth: Math.min(depth, maxDepth),
    texts: node.label === '' ? [] : [node.label],
    said: [...node.said],
    path: path.join('/'),
  };
  walk.lines.push(line);
  return line;
}

/**
 * Whether the line is listed. A touchable frame around touchable nodes has no text to identify it; a control is listed
 * even without a text.
 */
const isListed = ({ node, texts }: Line): boolean =>
  texts.length > 0 || node.id !== '' || node.kind !== 'item';

function countIds(lines: readonly Line[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { node } of lines) counts.set(node.id, (counts.get(node.id) ?? 0) + 1);
  return counts;
}

function lineText({ node, texts }: Line, idCounts: ReadonlyMap<string, number>): string {
  const { kind, id, states } = node;
  const isIdShown = id !== '' && (texts.length === 0 || idCounts.get(id) === 1);
  const shownId = /^[\w.$-]+$/.test(id) ? id : JSON.stringify(id);
  return [
    kind,
    ...(texts.length === 0 ? [] : [joined(texts)]),
    ...(isIdShown ? [`#${shownId}`] : []),
    ...states,
  ].join(' ');
}

/** Joins the distinct texts, because parents often repeat the texts of their children. */
function joined(texts: readonly string[]): string {
  const [...different] = new Set(texts);
  const shown = JSON.stringify(different.slice(0, maxTextsJoined).join(' · '));
  const more = different.length - maxTextsJoined;
  return more > 0 ? `${shown} (${more} more texts)` : shown;
}
