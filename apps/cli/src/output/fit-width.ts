import stringWidth from 'string-width';

const segmenter = new Intl.Segmenter();

/** Cuts `text` to so many cells of a terminal; what is cut ends in an ellipsis. */
export function fitWidth(text: string, cells: number): string {
  if (stringWidth(text) <= cells) return text;
  let fitted = '';
  for (const { segment } of segmenter.segment(text)) {
    if (stringWidth(fitted + segment) > cells - 1) break;
    fitted += segment;
  }
  return `${fitted.trimEnd()}…`;
}

/** Lines of at most so many cells, broken between words; a word that is longer stays whole. */
export function wrapWidth(text: string, cells: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1) ?? ''} ${word}`;
    if (lines.length > 0 && stringWidth(longer) <= cells) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
