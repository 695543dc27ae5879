import { printable } from '../../../output/printable.ts';
import { readLocalFile, textOf } from '../../../project/read-local-file.ts';

interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** As the compiler writes it, `main.ts(3,7): error …`, and as a stack does, `at pay (flows/pay.ts:12:5)`. */
const forms = [/^([^()]+)\((\d+),(\d+)\): /, /^\s*at (?:.* \()?([^()\s]+):(\d+):(\d+)\)?$/];

function findPlace(text: string): Place | undefined {
  for (const form of forms) {
    const [, file, line, column] = form.exec(text) ?? [];
    if (file !== undefined) return { file, line: Number(line), column: Number(column) };
  }
  return undefined;
}

/** The lines of the folder's own file around the first place that `text` names; none when it names no file of it. */
export async function sourceLines(root: string, text: string): Promise<string[]> {
  const place = text
    .split('\n')
    .map(findPlace)
    .find((found) => found !== undefined);
  if (place === undefined) return [];
  const source = await readLocalFile(root, place.file).then(textOf, () => undefined);
  return source === undefined ? [] : linesAround(source.split('\n'), place);
}

const linesBefore = 2;

function linesAround(lines: readonly string[], { file, line, column }: Place): string[] {
  const first = Math.max(1, line - linesBefore);
  const shown = lines
    .slice(first - 1, line)
    .map((text, index) => `${String(first + index).padStart(5)} | ${printable(text).replaceAll('\t', ' ')}`);
  if (shown.length === 0 || first + shown.length - 1 !== line) return [];
  return [`${printable(file)}:${line}:${column}`, ...shown, `${' '.repeat(5)} | ${' '.repeat(column - 1)}^`];
}
