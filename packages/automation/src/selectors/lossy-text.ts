/**
 * Characters that some ways of reading a screen lose, and the marks `?` or `.` in their place. `uiautomator dump` of
 * old Android versions writes a full stop for each half of an emoji; other ways write `?` for control characters and
 * noncharacters. In ordinary text both marks stand only at the end of a word, before a space.
 */
const lossy: readonly RegExp[] = [
  // oxlint-disable-next-line no-control-regex
  /[\0-\x08\v\f\x0e-\x1f\x7f-\x84\x86-\x9f\uFDD0-\uFDEF\uFFFD-\uFFFF]|\p{Cs}/u,
  /[\u{10000}-\u{10FFFF}]/u,
  // Matches a mark before a word, within a word, or repeated.
  /(?:^|\s)[.?]/,
  /[.?]\p{L}|\p{L}[.?]\p{N}/u,
  /(?<!\.)\.\.(?!\.)|\.{4}|\?\?/,
];

/** Whether the text may differ when another method reads the same screen. */
export const mayBeLossy = (text: string): boolean => lossy.some((form) => form.test(text));
