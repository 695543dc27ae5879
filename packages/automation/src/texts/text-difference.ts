import { distanceOf } from './nearest-texts.ts';
import { comparedText, seenText } from './seen-text.ts';

/** Characters that are seen as something else than they are. Joiners and the choices of a form belong to the letters of some languages, and to emojis. */
export const unclearCharacters =
  /[^\S ]|(?!\u200C|\u200D|[\u{FE00}-\u{FE0F}])[\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]/gu;

const codeOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/** A text for an error: characters that nobody sees are told by their number, such as `Pay[U+00A0]now`. */
export const readableText = (text: string): string =>
  text.replaceAll(unclearCharacters, (character) =>
    character === '\n' ? String.raw`\n` : `[${codeOf(character)}]`,
  );

const maxComparedLength = 200;

/** Why a text that looks like what was looked for is not it; undefined where it does not, and where everybody sees why. */
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

/** Texts that differ in more are not taken for each other. */
const maxDistance = 0.5;

/** In UTF-16 units; never between the halves of a pair. */
function firstDifference(one: string, other: string): number {
  const [letters, others] = [[...one], [...other]];
  const at = letters.findIndex((letter, index) => letter !== others[index]);
  return letters.slice(0, at === -1 ? letters.length : at).join('').length;
}

const isAscii = (character: string): boolean => /^[ -~]$/.test(character);
