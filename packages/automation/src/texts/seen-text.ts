/** Matches any text except printable ASCII with single inner spaces, which needs no conversion. */
const unusual = /[^ -~]|^ | {2}| $/;

/** White space of all kinds, line terminators, control characters, and characters rendered as blanks. */
const white = /[\s\p{Cc}\u2800\u3164\uFFA0]+/gu;

/** Characters without a glyph. Excludes blank letters, which are rendered, and tags, which form flags of regions. */
const invisible = /(?![\u3164\uFFA0\u{E0020}-\u{E007F}])\p{Default_Ignorable_Code_Point}/gu;

/**
 * Limit from Unicode for streams (UAX #15, "Stream-Safe Text Format"). Sorting marks takes quadratic time: 100,000
 * marks on one letter took 8 seconds.
 */
const tooManyMarks = /(\p{M}{30})\p{M}+/gu;

/**
 * Returns a text as people see it: all white space becomes one space, invisible characters are dropped, and letters
 * are composed (NFC).
 */
export function seenText(text: string): string {
  if (!unusual.test(text)) return text;
  return text
    .replaceAll(invisible, '')
    .replaceAll(white, ' ')
    .replaceAll(tooManyMarks, '$1')
    .normalize('NFC')
    .trim();
}

/** Returns the seen text in one letter case, for case-insensitive comparison. */
export const comparedText = (text: string): string => inOneCase(seenText(text));

/**
 * Folds letter case. The detour via upper case unifies `ß` with `SS` and `ı` with `I`; sigma has a separate form at
 * the end of words.
 */
export function inOneCase(seen: string): string {
  const lower = seen.toLowerCase();
  if (!unusual.test(lower)) return lower;
  return lower.toUpperCase().toLowerCase().replaceAll('ς', 'σ').replaceAll('i\u0307', 'i').normalize('NFC');
}
