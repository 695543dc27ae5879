/**
 * Characters that some way of reading a screen can't tell, and `?` or `.` in their place. `uiautomator dump` of old Androids writes a full stop for
 * each half of an emoji; control characters and what is no character are `?` by the other ways. In texts for people both marks stand at
 * the end of a word, and nothing but a space follows.
 */
const lossy: readonly RegExp[] = [
  // oxlint-disable-next-line no-control-regex
  /[\0-\x08\v\f\x0e-\x1f\x7f-\x84\x86-\x9f\uFDD0-\uFDEF\uFFFD-\uFFFF]|\p{Cs}/u,
  /[\u{10000}-\u{10FFFF}]/u,
  // Before a word, within one, and several for nothing.
  /(?:^|\s)[.?]/,
  /[.?]\p{L}|\p{L}[.?]\p{N}/u,
  /(?<!\.)\.\.(?!\.)|\.{4}|\?\?/,
];

/** Whether the text may be another one when the same screen is read by another way. */
export const mayBeLossy = (text: string): boolean => lossy.some((form) => form.test(text));
