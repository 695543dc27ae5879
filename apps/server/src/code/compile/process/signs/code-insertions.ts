import type { Node, SourceFile } from 'typescript/unstable/ast';

/** Text to insert into a file. Offsets are in UTF-16 units. */
export interface Insertion {
  source: SourceFile;
  at: number;
  text: string;
}

/** Returns the indentation of the line that contains an offset. */
export const indentAt = ({ text }: SourceFile, at: number): string =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', at - 1) + 1))?.[0] ?? '';

/** Inserts an item after the last one of a list, with commas and line breaks like the other items. */
export function insertLast(source: SourceFile, items: readonly Node[], item: string): Insertion | undefined {
  const last = items.at(-1);
  const before = items.at(-2);
  if (last === undefined) return undefined;
  const { text } = source;
  const start = last.getStart(source);
  const [, gap = '', comma = ''] = /^(\s*)(,?)/.exec(text.slice(last.end)) ?? [];
  const isOfLines = text.slice(before?.end ?? text.lastIndexOf('\n', start), start).includes('\n');
  const isAlone = /^\s*$/.test(text.slice(text.lastIndexOf('\n', start - 1) + 1, start));
  const listed = inLines(item, indentAt(source, start));
  if (!isOfLines || !isAlone) return { source, at: last.end, text: `, ${item}` };
  if (comma === '') return { source, at: last.end, text: `,\n${indentAt(source, start)}${listed}` };
  const end = last.end + gap.length + comma.length;
  // Keeps a trailing comment with its item.
  const remark = /^[ \t]*(?:\/\/[^\n]*)?(?=\r?\n)/.exec(text.slice(end))?.[0] ?? '';
  return { source, at: end + remark.length, text: `\n${indentAt(source, start)}${listed},` };
}

/** Inserts an item before another one of a list. */
export function insertBefore(source: SourceFile, next: Node, item: string): Insertion {
  const at = next.getStart(source);
  const indent = indentAt(source, at);
  const isFirstOfLine = /^\s*$/.test(source.text.slice(source.text.lastIndexOf('\n', at - 1) + 1, at));
  return { source, at, text: isFirstOfLine ? `${inLines(item, indent)}\n${indent}` : `${item} ` };
}

/** Indents all lines after the first one. */
export const inLines = (item: string, indent: string): string => item.replaceAll('\n', `\n${indent}`);

const byPlace = (one: Insertion, other: Insertion): number => one.at - other.at;

export function insertAll(text: string, insertions: readonly Insertion[]): string {
  let result = text;
  for (const { at, text: added } of insertions.toSorted(byPlace).toReversed())
    result = `${result.slice(0, at)}${added}${result.slice(at)}`;
  return result;
}

/** Change of one line of the old text. `line` is 0-based. */
interface ChangedLine {
  line: number;
  before: string[];
  after: string[];
}

const context = 3;

/** Formats a unified diff of one file whose only changes are insertions. */
export function diffOf(path: string, text: string, insertions: readonly Insertion[]): string {
  const lines = text.replace(/\n$/, '').split('\n');
  const changes = [...Map.groupBy(insertions, ({ at }) => lineOf(text, at))]
    .toSorted(([one], [other]) => one - other)
    .map(([line, inLine]) => changeOf(text, line, inLine));
  const hunks: string[] = [];
  let shift = 0;
  for (const group of near(changes)) {
    const hunk = hunkOf(lines, group, shift);
    hunks.push(hunk.text);
    shift += hunk.grown;
  }
  return [`--- a/${path}`, `+++ b/${path}`, ...hunks, ''].join('\n');
}

const lineOf = (text: string, at: number): number => text.slice(0, at).split('\n').length - 1;

function changeOf(text: string, line: number, insertions: readonly Insertion[]): ChangedLine {
  const start = text.split('\n').slice(0, line).join('\n').length + (line === 0 ? 0 : 1);
  const old = text.slice(start).split('\n', 1)[0] ?? '';
  const moved = insertions.map((one) => ({ ...one, at: one.at - start }));
  const after = insertAll(old, moved).split('\n');
  if (after[0] === old) return { line: line + 1, before: [], after: after.slice(1) };
  if (after.at(-1) === old) return { line, before: [], after: after.slice(0, -1) };
  return { line, before: [old], after };
}

/** Groups changes that belong to one hunk. */
function near(changes: readonly ChangedLine[]): ChangedLine[][] {
  const groups: ChangedLine[][] = [];
  for (const change of changes) {
    const last = groups.at(-1)?.at(-1);
    if (last !== undefined && change.line - last.line <= 2 * context + 1) groups.at(-1)?.push(change);
    else groups.push([change]);
  }
  return groups;
}

function hunkOf(
  lines: readonly string[],
  changes: readonly ChangedLine[],
  shift: number,
): { text: string; grown: number } {
  const first = Math.max(0, (changes[0]?.line ?? 0) - context);
  const shown: string[] = [];
  let [next, grown] = [first, 0];
  for (const { line, before, after } of changes) {
    shown.push(...lines.slice(next, line).map((same) => ` ${same}`));
    shown.push(...before.map((old) => `-${old}`), ...after.map((added) => `+${added}`));
    next = line + before.length;
    grown += after.length - before.length;
  }
  const end = Math.min(lines.length, next + context);
  shown.push(...lines.slice(next, end).map((same) => ` ${same}`));
  const count = end - first;
  const head = `@@ -${first + 1},${count} +${first + 1 + shift},${count + grown} @@`;
  return { text: [head, ...shown].join('\n'), grown };
}
