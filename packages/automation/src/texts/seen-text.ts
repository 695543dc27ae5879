/** Anything but printable ASCII with single spaces inside, which is seen as it is. */
const unusual = /[^ -~]|^ | {2}| $/;

/** White space of all kinds, what ends a line, control characters, and characters that are drawn as an empty place. */
const white = /[\s\p{Cc}\u2800\u3164\uFFA0]+/gu;

/** Characters that Unicode draws nothing for. Blank letters are drawn, and tags make the flags of regions. */
const invisible = /(?![\u3164\uFFA0\u{E0020}-\u{E007F}])\p{Default_Ignorable_Code_Point}/gu;

/**
 * Unicode's own limit for streams (UAX #15, "Stream-Safe Text Format"). Sorting marks takes the square of their number: 100,000 on one
 * letter took 8 seconds.
 */
const tooManyMarks = /(\p{M}{30})\p{M}+/gu;

/** A text as people see it: white space of all kinds is one space, invisible characters are left out, letters are composed (NFC). */
export function seenText(text: string): string {
  if (!unusual.test(text)) return text;
  return text
    .replaceAll(invisible, '')
    .replaceAll(white, ' ')
    .replaceAll(tooManyMarks, '$1')
    .normalize('NFC')
    .trim();
}

/** The same in one letter case: two texts that differ for nobody who reads them aloud have one. */
export const comparedText = (text: string): string => inOneCase(seenText(text));

/** Upper case in between makes `ß` and `SS` one, and `ı` and `I`; sigma has a form of its own at the end of words. */
export function inOneCase(seen: string): string {
  const lower = seen.toLowerCase();
  if (!unusual.test(lower)) return lower;
  return lower.toUpperCase().toLowerCase().replaceAll('ς', 'σ').replaceAll('i\u0307', 'i').normalize('NFC');
}
