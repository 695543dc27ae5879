import type { ShownNode } from './shown-node.ts';

/** Properties that distinguish a node of a screen from the others, even after the screen has moved. */
export interface NodeIdentity {
  /** App, class, ID, texts, and ancestors of the node. */
  readonly key: string;
  /** Texts beside the node, or the title of its page. */
  readonly context: string;
  /** Lines before and after the node. */
  readonly around: string;
  /** Number of nodes on the screen with the same key and context, including this one. */
  readonly twins: number;
  /** Lines around each of these nodes, in order. */
  readonly twinsAround: string;
  /** State of a switch; empty for other nodes. */
  readonly checked: string;
  /** Place on the screen, valid only while the screen is unchanged. */
  readonly place: string;
}

/** Line with the parts that identify it. */
interface Described {
  readonly node: ShownNode;
  readonly path: string;
  readonly packageName: string;
  readonly words: string;
  readonly context: string;
}

/** Result of finding a node again. */
export type Found<Line> =
  | { readonly kind: 'same'; readonly line: Line }
  /** Same switch in the other position. */
  | { readonly kind: 'switched'; readonly line: Line }
  | { readonly kind: 'several'; readonly lines: readonly Line[] }
  | { readonly kind: 'gone' };

const maxContextLength = 400;
/** Time or percentage that changes by itself, so that it identifies nothing. */
const clock = /^(\d{1,2}:\d\d(:\d\d)?( ?[AP]M)?|\d+ ?%)$/i;

export const contextOf = (texts: readonly string[]): string =>
  texts
    .filter((text) => !clock.test(text))
    .join('\u0001')
    .slice(0, maxContextLength);

export function identify(lines: readonly Described[]): NodeIdentity[] {
  const keys = lines.map(keyOf);
  const names = lines.map(({ context }, index) => `${keys[index]}\u0002${context}`);
  const arounds = names.map((_, index) => `${hash(names[index - 1] ?? '')} ${hash(names[index + 1] ?? '')}`);
  const places = Map.groupBy(names.keys(), (index) => names[index] ?? '');
  const screen = hash(lines.map(({ node }, index) => `${names[index]}${node.place}`).join('\u0003'));
  return lines.map(({ node, context }, index) => {
    const twins = places.get(names[index] ?? '') ?? [index];
    return {
      key: keys[index] ?? '',
      context,
      around: arounds[index] ?? '',
      twins: twins.length,
      twinsAround: hash(twins.map((at) => arounds[at]).join()),
      checked: node.checked,
      place: `${screen}.${index}`,
    };
  });
}

const keyOf = ({ node: { className, viewId }, path, packageName, words }: Described): string =>
  [packageName, className, viewId, path, words].join('\u0002');

/**
 * Finds a node again. Its place alone is never sufficient, because another node may have moved there. Equal nodes are
 * distinguished by the lines before and after them, or by an unchanged screen.
 */
export function findAgain<Line extends { readonly identity: NodeIdentity }>(
  sought: NodeIdentity,
  lines: readonly Line[],
): Found<Line> {
  const alike = lines.filter(
    ({ identity }) => identity.key === sought.key && identity.context === sought.context,
  );
  const [first] = alike;
  if (first === undefined) return { kind: 'gone' };
  const unmoved = alike.find(({ identity }) => identity.place === sought.place);
  const line = unmoved ?? (sought.twins === 1 && alike.length === 1 ? first : amongTwins(sought, alike));
  if (line === undefined) return { kind: 'several', lines: alike };
  return { kind: line.identity.checked === sought.checked ? 'same' : 'switched', line };
}

/**
 * Finds one of several equal nodes. It is only certain when all of them have kept their neighbours, and only one of
 * them has these: in another order, or with fewer nodes, any of them may be meant.
 */
function amongTwins<Line extends { readonly identity: NodeIdentity }>(
  { twins, twinsAround, around }: NodeIdentity,
  alike: readonly Line[],
): Line | undefined {
  const areAllThere = twins > 1 && alike[0]?.identity.twinsAround === twinsAround;
  const near = areAllThere ? alike.filter(({ identity }) => identity.around === around) : [];
  return near.length === 1 ? near[0] : undefined;
}

/** Returns the FNV-1a hash, which only has to make equal hashes of two screens unlikely. */
function hash(text: string): string {
  let sum = 0x81_1c_9d_c5;
  for (let at = 0; at < text.length; at += 1) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01_00_01_93);
  return (sum >>> 0).toString(36);
}
