import { distanceOf } from './nearest-texts.ts';
import { comparedText, seenText } from './seen-text.ts';

/**
 * Characters that are easily mistaken for others. Excludes joiners and variation selectors, which belong to the
 * letters of some languages and to emojis.
 */
export const unclearCharacters =
  /[^\S ]|(?!\u200C|\u200D|[\u{FE00}-\u{FE0F}])[\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]/gu;

const codeOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/** Returns a text for an error: invisible characters are shown by code point, such as `Pay[U+00A0]now`. */
export const readableText = (text: string): string =>
  text.replaceAll(unclearCharacters, (character) =>
    character === '\n' ? String.raw`\n` : `[${codeOf(character)}]`,
  );

const maxComparedLength = 200;

/**
 * Returns why a text that looks like the wanted one differs; undefined if it does not look alike or if the difference
 * is visible.
 */
export function differenceOf(wanted: string | RegExp, text: string): string | undefined {
  return wanted instanceof RegExp ? missedBy(wanted, text) : differingCharacter(wanted, text);
}

function missedBy(pattern: RegExp, text: string): string | undefined {
  const isMissed = text.search(pattern) < 0 && seenText(text).search(pattern) >= 0;
  if (!isMissed) return undefined;
  const [found] = text.match(unclearCharacters) ?? [];
  const why = found === undefined ? 'its letters are not composed' : `it has ${codeOf(found)}`;
  return `"${readableText(text.slice(0, maxComparedLength))}" looks like a match of ${String(pattern)}, but ${why}`;
}

function differingCharacter(wanted: string, text: string): string | undefined {
  const asked = comparedText(wanted.slice(0, maxComparedLength));
  const seen = comparedText(text.slice(0, maxComparedLength));
  const at = firstDifference(asked, seen);
  const [one, other] = [asked, seen].map((of) => String.fromCodePoint(of.codePointAt(at) ?? 0));
  if (one === undefined || other === undefined || (isAscii(one) && isAscii(other))) return undefined;
  if (at >= asked.length || at >= seen.length || distanceOf(asked, seen) > maxDistance) return undefined;
  const place = `character ${[...seen.slice(0, at)].length + 1}`;
  return `"${readableText(text.slice(0, maxComparedLength))}" has ${codeOf(other)} as ${place} where ${codeOf(one)} is looked for`;
}

/** Maximum distance of texts that can be mistaken for each other. */
const maxDistance = 0.5;

/** Returns the first difference in UTF-16 units, never inside of a surrogate pair. */
function firstDifference(one: string, other: string): number {
  const [letters, others] = [[...one], [...other]];
  const at = letters.findIndex((letter, index) => letter !== others[index]);
  return letters.slice(0, at === -1 ? letters.length : at).join('').length;
}

const isAscii = (character: string): boolean => /^[ -~]$/.test(character);
