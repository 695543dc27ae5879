/** Shortens to `maxLength` UTF-16 units: no half character at the end, and U+FFFD for other halves, as in Node. */
export function shortened(text: string, maxLength: number): string {
  const fits = text.length <= maxLength;
  const end = !fits && isHighSurrogate(text.charCodeAt(maxLength - 1)) ? maxLength - 1 : maxLength;
  return text.slice(0, end).toWellFormed();
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
