import { comparedText } from './seen-text.ts';

const maxNearest = 8;
/** Maximum number of characters compared; only the beginning of a longer text counts. */
const maxComparedLength = 80;

/** Returns up to eight distinct texts, nearest to `wanted` first, or in their original order without `wanted`. */
export function nearestOf(texts: readonly string[], wanted?: string): string[] {
  const different = [...new Set(texts)].map((text) => text.slice(0, maxComparedLength));
  if (wanted === undefined) return different.slice(0, maxNearest);
  const target = comparedText(wanted.slice(0, maxComparedLength));
  return different
    .map((text) => ({ text, distance: distanceOf(comparedText(text), target) }))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, maxNearest)
    .map(({ text }) => text);
}

/** Returns the edit distance relative to the longer text, from 0 (equal) to 1. */
export function distanceOf(a: string, b: string): number {
  const longer = Math.max(a.length, b.length);
  return longer === 0 ? 0 : editDistance(a, b) / longer;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
