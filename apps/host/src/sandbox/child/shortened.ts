/** At most so many UTF-16 units, never half a character at the end, and U+FFFD for any other half, as Node writes it. */
export function shortened(text: string, maxLength: number): string {
  const fits = text.length <= maxLength;
  const end = !fits && isHighSurrogate(text.charCodeAt(maxLength - 1)) ? maxLength - 1 : maxLength;
  return text.slice(0, end).toWellFormed();
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
