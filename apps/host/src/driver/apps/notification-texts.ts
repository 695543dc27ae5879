/** Lines of a record in the dump without texts, below its first line. */
export type RecordLines = readonly string[];

/** Heading of the lines that the lock screen shows in place of the others. */
const publicHeading = /^ {4,8}publicNotification=/;

/**
 * Finds the title or the text of a notification. `part` is its record in the dump with texts. Null when the
 * notification has none. Undefined when no place matches, or several match, because a text looks like the lines of a
 * record.
 */
export function findText(
  lines: RecordLines,
  name: 'title' | 'text',
  part: string,
): string | null | undefined {
  const end = lines.findIndex((line) => publicHeading.test(line));
  const own = end === -1 ? lines : lines.slice(0, end);
  const at = own.findIndex((line) => extraName(line) === `android.${name}`);
  if (at === -1) return null;
  if (own[at]?.endsWith('=null')) return null;
  // The last heading is Android's own: the texts of a notification precede it.
  const shown = end === -1 ? part : part.slice(0, part.lastIndexOf(`\n${lines[end]}`) + 1);
  for (const chain of [chainAround(own, at), { lines: own.slice(at, at + 1), at: 0 }]) {
    const values = valuesAt(chain, shown);
    if (values.length > 0) return values.length === 1 ? values[0] : undefined;
  }
  return undefined;
}

const extraName = (line: string): string | undefined => /^ {8,24}([\w.]{1,100})=/.exec(line)?.[1];

interface Chain {
  readonly lines: readonly string[];
  /** Index of the wanted line. */
  readonly at: number;
}

/**
 * Returns the lines around one, up to where the other dump has a text of unknown length: a ticker, of which this dump
 * has the first eight characters, or the items of a list.
 */
function chainAround(lines: RecordLines, at: number): Chain {
  const isOpen = (line: string): boolean => /=[\w$]{1,60}\[\] \([1-9]\d{0,6}\)$/.test(line);
  const ticker = lines.findIndex((line) => /^ +vis=/.test(line)) - 1;
  const before = lines.findLastIndex((line, index) => index < at && (isOpen(line) || index === ticker));
  const after = lines.findIndex((line, index) => index > at && isOpen(line));
  return { lines: lines.slice(before + 1, after === -1 ? undefined : after), at: at - before - 1 };
}

/** Redacted value. The dump without texts prints its length from Android 10 on; before, only that it exists. */
const redacted = /^( +[^=\n]{1,200}=\w{1,60})(?: \[length=(\d{1,7})\])?$/;

/** Result for several possible values, none of which is reported. */
const ambiguous = ['', ''];
/** Maximum number of tries: no record has more lines with the same beginning, except in a text that repeats one. */
const maxTries = 50;

/** Returns the values of the wanted line at each place where the lines of the chain follow each other. */
function valuesAt({ lines, at }: Chain, part: string): string[] {
  const [first = ''] = lines;
  const start = `\n${redacted.exec(first)?.[1] ?? first}`;
  const values: string[] = [];
  let triesLeft = maxTries;
  for (let from = part.indexOf(start); from !== -1; from = part.indexOf(start, from + 1)) {
    if (triesLeft === 0) return ambiguous;
    triesLeft -= 1;
    const found = followChain(lines, part, from);
    const value = found?.[at];
    if (value !== undefined) values.push(value);
  }
  return values;
}

/** Returns the value of each line, or the line itself; undefined when the lines do not follow each other. */
function followChain(lines: readonly string[], part: string, from: number): string[] | undefined {
  const values: string[] = [];
  let position = from;
  for (const [index, line] of lines.entries()) {
    const value = valueOf(line, { part, position, next: lines[index + 1] });
    if (value === undefined) return undefined;
    values.push(value.text);
    position = value.end;
  }
  return values;
}

interface Place {
  readonly part: string;
  readonly position: number;
  readonly next: string | undefined;
}

function valueOf(line: string, { part, position, next }: Place): { text: string; end: number } | undefined {
  const [, name, length] = redacted.exec(line) ?? [];
  const start = position + 1 + (name?.length ?? 0);
  if (name === undefined || !part.startsWith(`\n${name} (`, position))
    return part.startsWith(`\n${line}\n`, position)
      ? { text: line, end: position + 1 + line.length }
      : undefined;
  const textStart = start + 2;
  const textEnd = length === undefined ? endBefore(next, part, textStart) : textStart + Number(length);
  return part.startsWith(')\n', textEnd)
    ? { text: part.slice(textStart, textEnd), end: textEnd + 1 }
    : undefined;
}

/** Finds the end of a text of unknown length, which is where the next line follows. */
function endBefore(next: string | undefined, part: string, from: number): number {
  const after = next === undefined ? '' : (redacted.exec(next)?.[1] ?? next);
  const end = part.indexOf(`)\n${after}`, from);
  return end === -1 ? part.length : end;
}
