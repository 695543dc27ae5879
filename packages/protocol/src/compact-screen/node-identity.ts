import type { ShownNode } from './shown-node.ts';

/** Properties that tell a node of a screen from the others, also after the screen has moved. */
export interface NodeIdentity {
  /** App, class, ID, words, and what it is in. */
  readonly key: string;
  /** The texts beside it, or the title of its page. */
  readonly context: string;
  /** The lines before and after it. */
  readonly around: string;
  /** How many of its screen have the same key and context, with itself. */
  readonly twins: number;
  /** Those around each of them, in order. */
  readonly twinsAround: string;
  /** Whether a switch was on; empty for what is none. */
  readonly checked: string;
  /** The same on a screen that has not changed at all. */
  readonly place: string;
}

/** A line as it is identified. */
interface Described {
  readonly node: ShownNode;
  readonly path: string;
  readonly packageName: string;
  readonly words: string;
  readonly context: string;
}

/** How a node is found again. */
export type Found<Line> =
  | { readonly kind: 'same'; readonly line: Line }
  /** The same switch, in the other position. */
  | { readonly kind: 'switched'; readonly line: Line }
  | { readonly kind: 'several'; readonly lines: readonly Line[] }
  | { readonly kind: 'gone' };

const maxContextLength = 400;
/** A time or a share that goes on by itself: what it says identifies nothing. */
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
 * Looks a node up again. Never by its place alone: what stands where it stood may be another one. Equal nodes are told
 * apart by what stands before and after them, or by a screen on which nothing has changed.
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

/** Each of several has kept its neighbours, which only one of them has: in another order, or with fewer, any may be meant. */
function amongTwins<Line extends { readonly identity: NodeIdentity }>(
  { twins, twinsAround, around }: NodeIdentity,
  alike: readonly Line[],
): Line | undefined {
  const areAllThere = twins > 1 && alike[0]?.identity.twinsAround === twinsAround;
  const near = areAllThere ? alike.filter(({ identity }) => identity.around === around) : [];
  return near.length === 1 ? near[0] : undefined;
}

/** FNV-1a, of which it matters only that two screens rarely have the same. */
function hash(text: string): string {
  let sum = 0x81_1c_9d_c5;
  for (let at = 0; at < text.length; at += 1) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01_00_01_93);
  return (sum >>> 0).toString(36);
}
