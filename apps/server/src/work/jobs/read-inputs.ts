import { maxInputs } from '@phalanx/protocol';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { findExcess } from '../../http/requests/bodies/json-bounds.ts';
import { TimeSlice } from '../../kernel/limits/time-slice.ts';

type Input = Record<string, unknown>;

const maxColumns = 200;
const maxValueLength = 64 * 1024;
/** Limits of inputs: a table of ten columns with all rows that one job may have. */
const bounds = { depth: 64, names: 100_000, values: 200_000 };

const problem = (text: string): ApiError => ApiError.of('invalid_inputs', { problem: text });

/** NUL, or what a reader puts in the place of bytes that are no UTF-8. */
const notText = /[\0\uFFFD]/;

/**
 * Reads a table of text: JSON lines when the first line begins with `{`, else CSV with a line of names. Others have
 * their turn of the event loop meanwhile. Throws `invalid_inputs`.
 */
export async function readInputs(text: string): Promise<Input[]> {
  const body = text.replace(/^\uFEFF/, '');
  if (!/\S/.test(body)) throw problem('is empty');
  if (notText.test(body))
    throw problem('is not UTF-8 text: save the table of a spreadsheet as CSV in UTF-8, not as a workbook');
  const slice = new TimeSlice();
  const inputs: Input[] = [];
  for (const input of /^\s*\{/.test(body) ? jsonLines(body) : csvRows(body)) {
    if (slice.isOver) await slice.next();
    if (input === undefined) continue;
    if (inputs.length === maxInputs)
      throw problem(`has more than ${maxInputs} rows; at most ${maxInputs} are one job`);
    inputs.push(input);
  }
  if (inputs.length === 0) throw problem('has a line of names and no rows below it');
  return inputs;
}

/** Undefined: an empty line. */
function* jsonLines(text: string): Generator<Input | undefined> {
  const excess = findExcess(Buffer.from(text), bounds);
  if (excess !== undefined) throw problem(excess);
  let lineNumber = 0;
  for (const line of linesOf(text)) {
    lineNumber += 1;
    if (line.trim() === '') {
      yield undefined;
      continue;
    }
    const value = parseJson(line);
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw problem(`has no JSON object in line ${lineNumber}`);
    yield { ...value };
  }
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

/** Undefined: an empty line. */
function* csvRows(text: string): Generator<Input | undefined> {
  let names: readonly string[] | undefined;
  let rowNumber = 0;
  for (const row of splitCsv(text)) {
    rowNumber += 1;
    if (row.length === 1 && row[0] === '') {
      yield undefined;
      continue;
    }
    if (names === undefined) {
      names = namesOf(row);
      continue;
    }
    if (row.length !== names.length)
      throw problem(
        `has ${countText(row.length, 'value')} in row ${rowNumber}, and ${countText(names.length, 'column name')} in the first one`,
      );
    yield Object.fromEntries(names.map((name, at) => [name, row[at]]));
  }
}

const countText = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

function namesOf(row: readonly string[]): readonly string[] {
  const doubled = row.find((name, at) => name === '' || row.indexOf(name) !== at);
  if (doubled !== undefined)
    throw problem(`has a column name that is empty or stands there twice: "${doubled}"`);
  return row;
}

/** Separators between values. The table has the first one that is in the line of names outside of quotes. */
const separators = [',', ';', '\t'] as const;
type Separator = (typeof separators)[number];

/** Programs of countries with a decimal comma write semicolons. */
function separatorOf(text: string): Separator {
  const end = text.search(/\r?\n/);
  const names = (end === -1 ? text : text.slice(0, end)).replace(/"[^"]*"/g, '');
  return separators.find((one) => names.includes(one)) ?? ',';
}

/** RFC 4180, also with another separator: quotes around a value may hold separators, line breaks and doubled quotes. */
function* splitCsv(text: string): Generator<string[]> {
  const separator = separatorOf(text);
  let row: string[] = [];
  let rowNumber = 1;
  for (let from = 0; from < text.length || row.length > 0;) {
    if (row.length === maxColumns) throw problem(`has more than ${maxColumns} columns`);
    const place = { text, from, separator, rowNumber };
    const { value, end } = text[from] === '"' ? readQuoted(place) : readPlain(place);
    row.push(value);
    from = end + 1;
    if (text[end] === separator) continue;
    if (text[end] === '\r') from += 1;
    yield row;
    row = [];
    rowNumber += 1;
  }
}

/** Position at which a value begins. */
interface Place {
  readonly text: string;
  readonly from: number;
  readonly separator: Separator;
  readonly rowNumber: number;
}

interface Cell {
  readonly value: string;
  /** Position of the separator or line break behind the value, or the end of the text. */
  readonly end: number;
}

const ends: Readonly<Record<Separator, RegExp>> = {
  ',': /,|\r?\n/g,
  ';': /;|\r?\n/g,
  '\t': /\t|\r?\n/g,
};

function readPlain({ text, from, separator, rowNumber }: Place): Cell {
  const ending = ends[separator];
  ending.lastIndex = from;
  const end = ending.exec(text)?.index ?? text.length;
  const value = text.slice(from, end);
  requireLength(value.length, rowNumber);
  if (value.includes('"')) throw notClosed(rowNumber);
  return { value, end };
}

function readQuoted({ text, from, separator, rowNumber }: Place): Cell {
  const pieces: string[] = [];
  let length = 0;
  for (let at = from + 1; ;) {
    const quote = text.indexOf('"', at);
    if (quote === -1) throw notClosed(rowNumber);
    const isDoubled = text[quote + 1] === '"';
    const piece = text.slice(at, isDoubled ? quote + 1 : quote);
    pieces.push(piece);
    length += piece.length;
    requireLength(length, rowNumber);
    if (isDoubled) {
      at = quote + 2;
      continue;
    }
    const end = quote + 1;
    const isEnd = end === text.length || text[end] === separator || /^\r?\n/.test(text.slice(end, end + 2));
    if (!isEnd) throw notClosed(rowNumber);
    return { value: pieces.join(''), end };
  }
}

const notClosed = (rowNumber: number): ApiError =>
  problem(`has a quote that is not closed, or text beside one, in row ${rowNumber}`);

function requireLength(length: number, rowNumber: number): void {
  if (length > maxValueLength)
    throw problem(`has a value of more than ${maxValueLength} characters in row ${rowNumber}`);
}
