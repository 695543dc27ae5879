import { pipeline } from 'node:stream/promises';
import { maxInputs } from '@phalanx/protocol';
import { CsvError, parse } from 'csv-parse';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { findExcess, jsonBounds } from '../../http/requests/bodies/json-bounds.ts';
import { TimeSlice } from '../../kernel/limits/time-slice.ts';

type Input = Record<string, unknown>;

const maxColumns = 200;
const maxValueLength = 64 * 1024;

const problem = (text: string): ApiError => ApiError.of('invalid_inputs', { problem: text });

/** NUL, or the replacement character that decoders insert for invalid UTF-8. */
const notText = /[\0\uFFFD]/;

/**
 * Reads a table from text: JSON lines when the first line begins with `{`, else CSV with a header row. Yields to the
 * event loop. Throws `invalid_inputs`.
 */
export async function readInputs(text: string): Promise<Input[]> {
  const body = text.replace(/^\uFEFF/, '');
  if (!/\S/.test(body)) throw problem('is empty');
  if (notText.test(body))
    throw problem('is not UTF-8 text: save the table of a spreadsheet as CSV in UTF-8, not as a workbook');
  const inputs = await (/^\s*\{/.test(body) ? readJsonLines(body) : readCsv(body));
  if (inputs.length === 0) throw problem('has a line of names and no rows below it');
  return inputs;
}

function add(input: Input, inputs: Input[]): void {
  if (inputs.length === maxInputs) throw problem(`has more than ${maxInputs} rows, the maximum of a job`);
  inputs.push(input);
}

async function readJsonLines(text: string): Promise<Input[]> {
  const excess = findExcess(Buffer.from(text), jsonBounds.inputs);
  if (excess !== undefined) throw problem(excess);
  const inputs: Input[] = [];
  const slice = new TimeSlice();
  let lineNumber = 0;
  for (const line of linesOf(text)) {
    if (slice.isOver) await slice.next();
    lineNumber += 1;
    if (line.trim() === '') continue;
    const value = parseJson(line);
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw problem(`has no JSON object in line ${lineNumber}`);
    add({ ...value }, inputs);
  }
  return inputs;
}

function* linesOf(text: string): Generator<string> {
  for (let from = 0; from <= text.length;) {
    const end = endOr(text.indexOf('\n', from), text);
    yield text.slice(from, end);
    from = end + 1;
  }
}

const endOr = (at: number, text: string): number => (at === -1 ? text.length : at);

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/**
 * Reads CSV (RFC 4180), also with another separator. Quoted values may contain separators, line breaks and doubled
 * quotes.
 */
async function readCsv(text: string): Promise<Input[]> {
  const inputs: Input[] = [];
  let names: readonly string[] | undefined;
  const parser = parse({
    delimiter: separatorOf(text),
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    skip_empty_lines: true,
    cast(value, { index, records, empty_lines }) {
      if (index === maxColumns) throw problem(`has more than ${maxColumns} columns`);
      if (value.length > maxValueLength)
        throw problem(
          `has a value of more than ${maxValueLength} characters in row ${records + empty_lines + 1}`,
        );
      return value;
    },
    on_record(row: readonly string[], { records, empty_lines }) {
      const isEmpty = row.length === 1 && row[0] === '';
      if (isEmpty) return null;
      if (names === undefined) names = namesOf(row);
      else add(inputOf(row, names, records + empty_lines), inputs);
      return null;
    },
  });
  await pipeline(inSlices(text), parser.resume()).catch((error: unknown) => {
    if (!(error instanceof CsvError)) throw error;
    const rowNumber = Number(error['records']) + Number(error['empty_lines']) + 1;
    throw problem(`has a quote that is not closed, or text beside one, in row ${rowNumber}`);
  });
  return inputs;
}

/** Maximum size of a chunk, small enough for its rows to be read within a time slice. */
const maxPartBytes = 4096;

async function* inSlices(text: string): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  const slice = new TimeSlice();
  for (let from = 0; from < bytes.length; from += maxPartBytes) {
    if (slice.isOver) await slice.next();
    yield bytes.subarray(from, from + maxPartBytes);
  }
}

function inputOf(row: readonly string[], names: readonly string[], rowNumber: number): Input {
  if (row.length === names.length) return Object.fromEntries(names.map((name, at) => [name, row[at]]));
  throw problem(
    `has ${countText(row.length, 'value')} in row ${rowNumber}, and ${countText(names.length, 'column name')} in the first one`,
  );
}

const countText = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

function namesOf(row: readonly string[]): readonly string[] {
  const doubled = row.find((name, at) => name === '' || row.indexOf(name) !== at);
  if (doubled !== undefined) throw problem(`has a column name that is empty or repeated: "${doubled}"`);
  return row;
}

/** Separators of values. A table uses the first one that its header row has outside of quotes. */
const separators = [',', ';', '\t'] as const;
type Separator = (typeof separators)[number];

/** Returns the separator of a table. Programs for locales with a decimal comma write semicolons. */
function separatorOf(text: string): Separator {
  const end = text.search(/\r?\n/);
  const names = (end === -1 ? text : text.slice(0, end)).replace(/"[^"]*"/g, '');
  return separators.find((one) => names.includes(one)) ?? ',';
}
