import { comparedText, inOneCase, seenText } from './seen-text.ts';

/** Ranks of how well a text matches, lower is better. */
export const textRanks = {
  equal: 0,
  equalInOtherCase: 1,
  firstLine: 2,
  firstLineInOtherCase: 3,
  otherLine: 4,
  part: 5,
} as const;

export type TextRank = (typeof textRanks)[keyof typeof textRanks];

const lineEnds = /\r\n?|[\n\v\f\u0085\u2028\u2029]/;
/** Returns the first line of a text. */
export const firstLine = (text: string): string =>
  text.split(lineEnds).find((line) => seenText(line) !== '') ?? text;

/** Mark at the end of a text that was cut for display. */
const cut = '…';

/**
 * Ranks texts by how well they match `wanted`, both as people see them (see `seenText`). Undefined means no match. A
 * `wanted` without visible characters matches no text.
 */
export function createTextRank(wanted: string): (text: string) => TextRank | undefined {
  const seen = seenText(wanted);
  const caseless = inOneCase(seen);
  const beginning =
    caseless.length > 1 && caseless.endsWith(cut) ? caseless.slice(0, -1).trimEnd() : undefined;
  return (text) => {
    const textSeen = seenText(text);
    if (caseless === '') return undefined;
    if (textSeen === seen) return textRanks.equal;
    const textCaseless = inOneCase(textSeen);
    if (textCaseless === caseless) return textRanks.equalInOtherCase;
    if (textCaseless.includes(caseless)) return rankOfLine(text.split(lineEnds), { seen, caseless });
    return beginning !== undefined && textCaseless.startsWith(beginning) ? textRanks.part : undefined;
  };
}

function rankOfLine(
  lines: readonly string[],
  { seen, caseless }: { seen: string; caseless: string },
): TextRank {
  if (lines.length === 1) return textRanks.part;
  const [first = '', ...others] = lines.map(seenText).filter((line) => line !== '');
  if (first === seen) return textRanks.firstLine;
  if (inOneCase(first) === caseless) return textRanks.firstLineInOtherCase;
  return others.some((line) => comparedText(line) === caseless) ? textRanks.otherLine : textRanks.part;
}

/** Returns the items with the best rank, in their order. */
export function bestRanked<Item>(
  items: readonly Item[],
  rankOf: (item: Item) => TextRank | undefined,
): Item[] {
  const ranked = items.flatMap((item) => {
    const rank = rankOf(item);
    return rank === undefined ? [] : [{ item, rank }];
  });
  const best = ranked.reduce((least, { rank }) => Math.min(least, rank), Infinity);
  return ranked.filter(({ rank }) => rank === best).map(({ item }) => item);
}

/** Returns the best rank of several texts of the same item. */
export function bestRank(
  texts: readonly string[],
  rankOf: (text: string) => TextRank | undefined,
): TextRank | undefined {
  return texts
    .map(rankOf)
    .reduce(
      (best, rank) => (best === undefined || (rank !== undefined && rank < best) ? rank : best),
      undefined,
    );
}
