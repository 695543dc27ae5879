import { holds, ratioOf, type Row, type RowResult, type Target } from './row.ts';

export interface Measured {
  row: Row;
  result: RowResult;
}

const headings = ['row', 'unit', 'figure', 'baseline', 'ratio', 'target', 'holds'] as const;

function formatNumber(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : 2;
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

const targetText = ({ of, bound, value }: Target): string =>
  `${of} ${bound === 'at least' ? '≥' : '≤'} ${value.toLocaleString('en-US')}`;

const verdict = (result: RowResult): string => {
  if (result.targets.length === 0) return '-';
  return result.targets.every((target) => holds(result, target)) ? 'yes' : 'NO';
};

function cellsOf({ row, result }: Measured): string[] {
  return [
    row.name,
    result.unit,
    formatNumber(result.figure),
    formatNumber(result.baseline),
    formatNumber(ratioOf(result)),
    result.targets.map(targetText).join(', ') || '-',
    verdict(result),
  ];
}

/** Formats the table for people, with right-aligned numbers. */
export function formatTable(measured: readonly Measured[]): string {
  const lines = [[...headings], ...measured.map(cellsOf)];
  const widths = headings.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  const isNumber = (column: number): boolean => column >= 2 && column <= 4;
  const format = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        isNumber(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return lines.map(format).join('\n');
}

export function formatNotes(measured: readonly Measured[]): string {
  return measured
    .map(({ row, result }) =>
      [`${row.name}: ${row.title}, against ${row.against}`, ...result.notes.map((note) => `  ${note}`)].join(
        '\n',
      ),
    )
    .join('\n');
}

/** Returns the table for programs. */
export function tableJson(measured: readonly Measured[]): object[] {
  return measured.map(({ row, result }) => ({
    row: row.name,
    title: row.title,
    against: row.against,
    unit: result.unit,
    figure: result.figure,
    baseline: result.baseline,
    ratio: ratioOf(result),
    targets: result.targets.map((target) => ({ ...target, holds: holds(result, target) })),
    notes: result.notes,
  }));
}
