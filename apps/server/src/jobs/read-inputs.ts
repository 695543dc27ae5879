import { maxInputs } from '@phalanx/protocol';

import { ApiError } from '../errors/api-error.ts';
import { findExcess } from '../http/bodies/json-bounds.ts';
import { TimeSlice } from '../limits/time-slice.ts';

type Input = Record<string, unknown>;

const maxColumns = 200;
const maxValueLength = 64 * 1024;
/** A table of ten columns with all rows that one job may have. */
const bounds = { depth: 64, names: 100_000, values: 200_000 };

const problem = (text: string): ApiError =>
  ApiError.of('invalid_request', { problem: `Field inputs_text ${text}` });

/**
 * A table as text: JSON lines when the first line begins with `{`, else CSV with a line of names. Others have their turn
 * of the event loop meanwhile. Throws `invalid_request`.
 */
export async function readInputs(text: string): Promise<Input[]> {
  const body = text.replace(/^\uFEFF/, '');
  const slice = new TimeSlice();
  const inputs: Input[] = [];
  for (const input of /^\s*\{/.test(body) ? jsonLines(body) : csvRows(body)) {
    if (slice.isOver) await slice.next();
    if (input === undefined) continue;
    if (inputs.length === maxInputs)
      throw problem(`has more than ${maxInputs} rows; at most ${maxInputs} are one job`);
    inputs.push(input);
  }
  if (inputs.length === 0) throw problem('has no rows');
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
    if (row.length === 1 && row[0] === '') {
      yield undefined;
      continue;
    }
    if (names === undefined) {
      names = namesOf(row);
      continue;
    }
    rowNumber += 1;
    if (row.length !== names.length)
      throw problem(`has ${row.length} values in row ${rowNumber}, and ${names.length} column names`);
    yield Object.fromEntries(names.map((name, at) => [name, row[at]]));
  }
}

function namesOf(row: readonly string[]): readonly string[] {
  const doubled = row.find((name, at) => name === '' || row.indexOf(name) !== at);
  if (doubled !== undefined) throw problem(`has a column name that is empty or twice there: "${doubled}"`);
  return row;
}

/** RFC 4180: quotes around a value may hold commas, line breaks and doubled quotes. */
function* splitCsv(text: string): Generator<string[]> {
  let row: string[] = [];
  for (let from = 0; from < text.length || row.length > 0;) {
    if (row.length === maxColumns) throw problem(`has more than ${maxColumns} columns`);
    const { value, end } = text[from] === '"' ? readQuoted(text, from) : readPlain(text, from);
    row.push(value);
    from = end + 1;
    if (text[end] === ',') continue;
    if (text[end] === '\r') from += 1;
    yield row;
    row = [];
  }
}

interface Cell {
  readonly value: string;
  /** Where the comma or the line break behind it is, or the end of the text. */
  readonly end: number;
}

const separator = /,|\r?\n/g;

function readPlain(text: string, from: number): Cell {
  separator.lastIndex = from;
  const end = separator.exec(text)?.index ?? text.length;
  const value = bounded(text.slice(from, end));
  if (value.includes('"')) throw notClosed(from);
  return { value, end };
}

function readQuoted(text: string, from: number): Cell {
  const pieces: string[] = [];
  let length = 0;
  for (let at = from + 1; ;) {
    const quote = text.indexOf('"', at);
    if (quote === -1) throw notClosed(from);
    const isDoubled = text[quote + 1] === '"';
    const piece = text.slice(at, isDoubled ? quote + 1 : quote);
    pieces.push(piece);
    length += piece.length;
    requireLength(length);
    if (isDoubled) {
      at = quote + 2;
      continue;
    }
    const end = quote + 1;
    if (end < text.length && !/^(,|\r?\n)/.test(text.slice(end, end + 2))) throw notClosed(from);
    return { value: pieces.join(''), end };
  }
}

const notClosed = (at: number): ApiError =>
  problem(`has a quote that is not closed, or text beside one, near character ${at + 1}`);

function bounded(value: string): string {
  requireLength(value.length);
  return value;
}

function requireLength(length: number): void {
  if (length > maxValueLength) throw problem(`has a value of more than ${maxValueLength} characters`);
}
