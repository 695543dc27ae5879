/**
 * Truncates a text to `maxLength` UTF-16 units. Never splits a character at the end, and replaces lone surrogates with
 * U+FFFD, as Node does.
 */
export function shortened(text: string, maxLength: number): string {
  const fits = text.length <= maxLength;
  const end = !fits && isHighSurrogate(text.charCodeAt(maxLength - 1)) ? maxLength - 1 : maxLength;
  return text.slice(0, end).toWellFormed();
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
