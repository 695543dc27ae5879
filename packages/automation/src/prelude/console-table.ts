import util, { inspect } from 'node-inspect-extracted';

const keyHeader = 'Key';
const valuesHeader = 'Values';

/** A line of a table: its index, and either cells by column or one value. */
interface Row {
  index: string;
  value: unknown;
}

/** The text of `console.table`, undefined for values that are no table. */
export function formatTable(data: unknown, columns?: readonly string[]): string | undefined {
  if (!isRecord(data)) return undefined;
  if (data instanceof Map) return formatMap(data);
  const rows =
    data instanceof Set ? rowsOfSet(data) : Object.entries(data).map(([index, value]) => ({ index, value }));
  const header = columns ?? [
    ...new Set(rows.flatMap(({ value }) => (isRecord(value) ? Object.keys(value) : []))),
  ];
  const hasValues = rows.some(({ value }) => !isRecord(value));
  return draw([
    [data instanceof Set ? '(iteration index)' : '(index)', ...header, ...(hasValues ? [valuesHeader] : [])],
    ...rows.map(({ index, value }) => [
      index,
      ...header.map((name) => (isRecord(value) && Object.hasOwn(value, name) ? cell(value[name]) : '')),
      ...(hasValues ? [isRecord(value) ? '' : cell(value)] : []),
    ]),
  ]);
}

function formatMap(map: Map<unknown, unknown>): string {
  const lines = [...map].map(([key, value], index) => [String(index), cell(key), cell(value)]);
  return draw([['(iteration index)', keyHeader, valuesHeader], ...lines]);
}

function rowsOfSet(set: Set<unknown>): Row[] {
  return [...set].map((value, index) => ({ index: String(index), value }));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function cell(value: unknown): string {
  return inspect(value, { depth: isRecord(value) ? 0 : 1, maxArrayLength: 3, breakLength: Infinity });
}

function draw(lines: string[][]): string {
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((line) => util.getStringWidth(line[column] ?? '') + 2)),
  );
  const rule = (left: string, middle: string, right: string): string =>
    left + widths.map((width) => '─'.repeat(width)).join(middle) + right;
  const text = (line: string[]): string =>
    `│${line.map((value, column) => padded(` ${value}`, widths[column] ?? 0)).join('│')}│`;
  const [head = [], ...body] = lines;
  return [rule('┌', '┬', '┐'), text(head), rule('├', '┼', '┤'), ...body.map(text), rule('└', '┴', '┘')].join(
    '\n',
  );
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - util.getStringWidth(text)));
}
