import { displayWidth, fitWidth } from './display-width.ts';
import { printableLine } from './printable.ts';

const gap = 2;
/** A column is not made narrower than this, whatever the terminal. */
const leastCells = 12;

export interface Table {
  /** The one that gives way when the terminal is too narrow. */
  flexible: string;
  rows: readonly Readonly<Record<string, string>>[];
}

const padded = (text: string, cells: number): string => text + ' '.repeat(cells - displayWidth(text));

/** Aligned lines under a line of column names; the columns are the keys of the first row. */
export function formatTable({ flexible, rows }: Table, terminalCells: number | undefined): string[] {
  const columns = Object.keys(rows[0] ?? {});
  const cellsOf = (row: Readonly<Record<string, string>>): string[] =>
    columns.map((name) => printableLine(row[name] ?? ''));
  const lines = [columns.map((name) => name.toUpperCase()), ...rows.map(cellsOf)];
  const widths = columns.map((_, index) =>
    lines.reduce((most, line) => Math.max(most, displayWidth(line[index] ?? '')), 0),
  );
  const total = widths.reduce((sum, width) => sum + width + gap, -gap);
  const flexibleIndex = columns.indexOf(flexible);
  if (terminalCells !== undefined && total > terminalCells) {
    const width = widths[flexibleIndex] ?? 0;
    widths[flexibleIndex] = Math.min(width, Math.max(leastCells, width - (total - terminalCells)));
  }
  return lines.map((line) =>
    line
      .map((text, index) => padded(fitWidth(text, widths[index] ?? 0), widths[index] ?? 0))
      .join(' '.repeat(gap))
      .trimEnd(),
  );
}

/** Prints a table that fits the terminal; without rows what to do next. */
export function printTable(table: Table, empty: string): void {
  if (table.rows.length === 0) return console.log(empty);
  const cells = process.stdout.isTTY ? process.stdout.columns : undefined;
  for (const line of formatTable(table, cells)) console.log(line);
}

export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2));
}
