const segmenter = new Intl.Segmenter();

/** Scripts whose characters take two cells of a terminal, and emoji. */
const wide =
  /^(?:[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|[\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation})/u;
const isPlain = /^[\u0020-\u007E]*$/;

/** How many cells of a terminal `text` takes. */
export function displayWidth(text: string): number {
  if (isPlain.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += wide.test(segment) ? 2 : 1;
  return width;
}

/** Cuts `text` to so many cells; what is cut ends in an ellipsis. */
export function fitWidth(text: string, cells: number): string {
  if (displayWidth(text) <= cells) return text;
  let fitted = '';
  let width = 0;
  for (const { segment } of segmenter.segment(text)) {
    width += wide.test(segment) ? 2 : 1;
    if (width > cells - 1) break;
    fitted += segment;
  }
  return `${fitted.trimEnd()}…`;
}
