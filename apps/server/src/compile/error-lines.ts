/** More lines help nobody, and a large broken file has a million of them. */
const maxLines = 100;
const maxLineLength = 4_000;

/** Line and column from 1, as editors count: columns in UTF-16 units. */
export interface Place {
  line: number;
  column: number;
}

const lineBreak = /\r\n|[\n\r\u2028\u2029]/g;

/** Finds places in one text; the line starts are found once. */
export function createPlaceFinder(text: string): (offset: number) => Place {
  // A byte order mark is not a column.
  const starts = [text.startsWith('\uFEFF') ? 1 : 0];
  for (const match of text.matchAll(lineBreak)) starts.push(match.index + match[0].length);
  return (offset) => {
    const line = lastStart(starts, offset);
    return { line: line + 1, column: offset - (starts[line] ?? 0) + 1 };
  };
}

function lastStart(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** `main.ts(3,7): error TS2322: …`; without a code where the mistake is not the checker's. */
export function errorLine(path: string, place: Place | undefined, text: string, code?: number): string {
  const where = place === undefined ? '' : `(${place.line},${place.column})`;
  const what = code === undefined ? 'error' : `error TS${code}`;
  const line = `${path}${where}: ${what}: ${text}`;
  return line.length <= maxLineLength ? line : `${line.slice(0, maxLineLength)}…`;
}

/** The first lines, and how many more there are. */
export function limitLines(lines: readonly string[]): string[] {
  if (lines.length <= maxLines) return [...lines];
  return [...lines.slice(0, maxLines), `error: ${lines.length - maxLines} more errors are not shown`];
}
