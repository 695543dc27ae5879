/** Maximum number of error lines. More are of no use, and a large broken file can produce a million. */
const maxLines = 100;
const maxLineLength = 4_000;

/** 1-based line and column, as in editors. Columns are in UTF-16 units. */
export interface Place {
  line: number;
  column: number;
}

const lineBreak = /\r\n|[\n\r\u2028\u2029]/g;

/** Creates a function that converts offsets of one text to places. Indexes the line starts only once. */
export function createPlaceFinder(text: string): (offset: number) => Place {
  // Starts after a byte order mark, which does not count as a column.
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

const start: Place = { line: 1, column: 1 };
const breaks = /[\n\r\u2028\u2029]+/;

/** Joins the trimmed lines. A regular expression for the white space around line breaks would take quadratic time. */
const joinLines = (text: string): string =>
  text
    .split(breaks)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ');

/**
 * Formats an error as one line, such as `main.ts(3,7): error TS2322: …`. An error for which the checker has no number
 * takes the number of the most similar one. An error without a place is reported at the start of its file.
 */
export function errorLine(path: string, place: Place | undefined, code: number, text: string): string {
  const { line, column } = place ?? start;
  const whole = `${path}(${line},${column}): error TS${code}: ${joinLines(text)}`;
  return whole.length <= maxLineLength ? whole : `${whole.slice(0, maxLineLength).toWellFormed()}…`;
}

/**
 * Keeps the first `maxLines` lines. Adds a line with the place of the first omitted error and the number of omitted
 * errors.
 */
export function limitLines(lines: readonly string[]): string[] {
  const next = lines[maxLines];
  if (next === undefined) return [...lines];
  const place = /^.*?\): error TS\d+: /s.exec(next)?.[0] ?? '';
  return [...lines.slice(0, maxLines), `${place}${lines.length - maxLines} more errors are not shown.`];
}
