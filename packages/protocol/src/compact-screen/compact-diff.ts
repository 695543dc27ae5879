import { type CompactLine, type CompactScreen, numbered } from './compact-screen.ts';
import type { NodeIdentity } from './node-identity.ts';

/** Line of a screen that a caller has received, with its number. */
export interface NumberedLine extends Pick<CompactLine, 'text' | 'depth' | 'identity'> {
  readonly number: number;
}

/** Screen that a caller has received. */
export interface NumberedScreen {
  readonly head: string;
  readonly lines: readonly NumberedLine[];
}

/** Parts of a compact screen that its numbering needs. Its nodes may have been read in another process. */
export interface NumberableScreen extends Pick<CompactScreen, 'head' | 'leftOut'> {
  readonly lines: readonly Omit<CompactLine, 'node' | 'said'>[];
}

interface NumberedReply {
  readonly screen: NumberedScreen;
  /** `diff` when the lines contain only the changes. */
  readonly view: 'compact' | 'diff';
  readonly lines: readonly string[];
}

/** Maximum number of a line. Beyond it, numbering restarts. */
const maxNumber = 9999;
/** Share of changed lines above which the whole screen is sent. */
const maxChangedShare = 0.6;

/** Numbers a screen for a caller that has no earlier one. */
export function numberScreen({ head, lines, leftOut }: NumberableScreen): NumberedReply {
  const numberedLines = lines.map((line, index) => numberLine(line, index + 1));
  const texts = numberedLines.map((line) => numbered(line.number, line));
  return { screen: { head, lines: numberedLines }, view: 'compact', lines: [head, ...texts, leftOut] };
}

/**
 * Returns only the changes since a screen. Unchanged nodes keep their numbers, and a number is never reused for another
 * node.
 */
export function numberChanges(before: NumberedScreen, now: NumberableScreen): NumberedReply {
  const known = byName(before.lines);
  let next = Math.max(0, ...before.lines.map(({ number }) => number));
  if (next + now.lines.length > maxNumber) return numberScreen(now);
  const present = byName(now.lines);
  const numbers = now.lines.map((line) => {
    const same = present.get(nameOf(line)) === line ? known.get(nameOf(line)) : undefined;
    return same?.number ?? (next += 1);
  });
  const screen = { head: now.head, lines: now.lines.map((line, at) => numberLine(line, numbers[at] ?? 0)) };
  const changes = changesBetween(before, screen);
  const whole = [screen.head, ...screen.lines.map((line) => numbered(line.number, line)), now.leftOut];
  return changes.length > Math.max(4, maxChangedShare * whole.length)
    ? { screen, view: 'compact', lines: whole }
    : { screen, view: 'diff', lines: changes.length === 0 ? ['nothing has changed'] : changes };
}

function changesBetween(before: NumberedScreen, now: NumberedScreen): string[] {
  const texts = new Map(before.lines.map((line) => [line.number, line.text]));
  const kept = new Set(now.lines.map(({ number }) => number));
  const gone = before.lines.map(({ number }) => number).filter((number) => !kept.has(number));
  return [
    ...(before.head === now.head ? [] : [now.head]),
    ...(gone.length === 0 ? [] : [`- ${gone.join(' ')}`]),
    ...now.lines.flatMap((line) => {
      const text = texts.get(line.number);
      if (text === line.text) return [];
      return [`${text === undefined ? '+' : '~'} ${line.number} ${line.text}`];
    }),
  ];
}

interface Identified {
  readonly identity: NodeIdentity;
}

const numberLine = (
  { text, depth, identity }: Omit<NumberedLine, 'number'>,
  number: number,
): NumberedLine => ({
  number,
  text,
  depth,
  identity,
});

const nameOf = ({ identity: { key, context, around, twins, twinsAround } }: Identified): string =>
  [key, context, ...(twins === 1 ? [] : [around, twinsAround])].join('\u0002');

/** Returns the lines that no other line can be mistaken for, by name. */
function byName<Line extends Identified>(lines: readonly Line[]): ReadonlyMap<string, Line> {
  const named = Map.groupBy(lines, nameOf);
  return new Map(
    [...named].flatMap(([name, [line, ...others]]) => (line && others.length === 0 ? [[name, line]] : [])),
  );
}
