import stringWidth from 'fast-string-width';

import { printableLine } from './terminal.ts';

const segmenter = new Intl.Segmenter();

const gap = 2;
/** Minimum width of the flexible column, whatever the terminal. */
const minCells = 12;

type Row = Readonly<Record<string, string>>;

export interface Table {
  /** Name of the column that gets narrower when the terminal is too narrow. */
  flexible: string;
  rows: readonly Row[];
}

const padded = (text: string, cells: number): string => text + ' '.repeat(cells - stringWidth(text));

/**
 * Formats aligned lines under a line of column names, which are the keys of the first row. If they do not fit, formats
 * each row as a paragraph.
 */
export function formatTable({ flexible, rows }: Table, terminalCells = Infinity): string[] {
  const columns = Object.keys(rows[0] ?? {});
  const cellsOf = (row: Row): string[] => columns.map((name) => printableLine(row[name] ?? ''));
  const lines = [columns.map((name) => name.toUpperCase()), ...rows.map(cellsOf)];
  const widths = columns.map((_, index) =>
    lines.reduce((widest, line) => Math.max(widest, stringWidth(line[index] ?? '')), 0),
  );
  const excess = widths.reduce((sum, width) => sum + width + gap, -gap) - terminalCells;
  const flexibleIndex = columns.indexOf(flexible);
  const flexibleWidth = widths[flexibleIndex] ?? 0;
  if (excess > Math.max(0, flexibleWidth - minCells))
    return rows.flatMap((row, index) => [...(index === 0 ? [] : ['']), ...paragraph(row, terminalCells)]);
  if (excess > 0) widths[flexibleIndex] = flexibleWidth - excess;
  return lines.map((line) => alignedLine(line, widths));
}

const alignedLine = (line: readonly string[], widths: readonly number[]): string =>
  line
    .map((text, index) => padded(fitWidth(text, widths[index] ?? 0), widths[index] ?? 0))
    .join(' '.repeat(gap))
    .trimEnd();

/** Formats a row as a paragraph, with a line for each column that is not empty. */
export function paragraph(row: Row, terminalCells = Infinity): string[] {
  const given = Object.entries(row).filter(([, text]) => text !== '');
  const margin = Math.max(...given.map(([name]) => stringWidth(name))) + gap;
  return given.flatMap(([name, text]) =>
    wrapWidth(printableLine(text), terminalCells - margin).map(
      (line, index) => padded(index === 0 ? name : '', margin) + line,
    ),
  );
}

export const terminalCells = (): number | undefined =>
  process.stdout.isTTY ? process.stdout.columns : undefined;

/** Prints a table that fits the terminal. Without rows, prints `empty`, which may say what to do next. */
export function printTable(table: Table, empty: string): void {
  if (table.rows.length === 0) return console.log(empty);
  for (const line of formatTable(table, terminalCells())) console.log(line);
}

export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2));
}

/** Cuts `text` to a number of terminal cells. A cut text ends in an ellipsis. */
function fitWidth(text: string, cells: number): string {
  if (stringWidth(text) <= cells) return text;
  let fitted = '';
  for (const { segment } of segmenter.segment(text)) {
    if (stringWidth(fitted + segment) > cells - 1) break;
    fitted += segment;
  }
  return `${fitted.trimEnd()}…`;
}

/** Wraps `text` between words into lines of at most `cells` terminal cells. A longer word stays whole. */
function wrapWidth(text: string, cells: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1) ?? ''} ${word}`;
    if (lines.length > 0 && stringWidth(longer) <= cells) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
