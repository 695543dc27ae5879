import { maxInputs } from '@phalanx/protocol';

import { ApiError } from '../errors/api-error.ts';

type Input = Record<string, unknown>;

const problem = (text: string): ApiError =>
  ApiError.of('invalid_request', { problem: `Field inputs_text ${text}` });

/** A table as text: JSON lines when the first line begins with `{`, else CSV with a line of names. Throws `invalid_request`. */
export function readInputs(text: string): Input[] {
  const body = text.replace(/^\uFEFF/, '');
  const inputs = body.trimStart().startsWith('{') ? readJsonLines(body) : readCsv(body);
  if (inputs.length === 0) throw problem('has no rows');
  if (inputs.length > maxInputs) throw problem(`has ${inputs.length} rows; at most ${maxInputs} are one job`);
  return inputs;
}

function readJsonLines(text: string): Input[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const value = parseJson(line);
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw problem(`has no JSON object in line ${index + 1}`);
    return [{ ...value }];
  });
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function readCsv(text: string): Input[] {
  const [names = [], ...rows] = splitCsv(text).filter((row) => row.length > 1 || row[0] !== '');
  const doubled = names.find((name, at) => name === '' || names.indexOf(name) !== at);
  if (doubled !== undefined) throw problem(`has a column name that is empty or twice there: "${doubled}"`);
  return rows.map((row, index) => {
    if (row.length !== names.length)
      throw problem(`has ${row.length} values in row ${index + 1}, and ${names.length} column names`);
    return Object.fromEntries(names.map((name, at) => [name, row[at]]));
  });
}

/** RFC 4180: quotes around a value may hold commas, line breaks and doubled quotes. */
function splitCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/gy;
  while (cell.lastIndex < text.length || row.length > 0) {
    const at = cell.lastIndex;
    const found = cell.exec(text);
    if (found === null)
      throw problem(`has a quote that is not closed, or text beside one, near character ${at + 1}`);
    const [, quoted, plain = '', end] = found;
    row.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === ',') {
      if (cell.lastIndex < text.length) continue;
      row.push('');
    }
    rows.push(row);
    row = [];
  }
  return rows;
}
