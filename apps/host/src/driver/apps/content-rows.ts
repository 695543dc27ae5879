/**
 * Splits the output of `content query --projection _id:COLUMN` for these rows into the values of the column, by ID.
 * Undefined when an ID precedes no value or several: the row was deleted, or a value contains what is printed for
 * another row. A single row is never ambiguous.
 *
 * Source: AOSP, cmds/content/…/Content.java, QueryCommand: `Row: N name=value, name=value` and a line end, with
 * unescaped values.
 */
export function cutRows(
  printed: string,
  column: string,
  ids: readonly number[],
): ReadonlyMap<number, string> | undefined {
  const [only] = ids;
  if (ids.length === 1 && only !== undefined) {
    const head = /^Row: 0 _id=\d{1,15}, \w+=/.exec(printed)?.[0];
    return new Map(head === undefined ? [] : [[only, withoutEnd(printed.slice(head.length))]]);
  }
  const heads = headsIn(printed, column, new Set(ids));
  if (heads.length !== ids.length || new Set(heads.map(({ id }) => id)).size < ids.length) return undefined;
  return new Map(
    heads.map(({ id, end }, index) => [id, withoutEnd(printed.slice(end, heads[index + 1]?.start))]),
  );
}

interface Head {
  readonly id: number;
  readonly start: number;
  readonly end: number;
}

function headsIn(printed: string, column: string, ids: ReadonlySet<number>): Head[] {
  return [...printed.matchAll(new RegExp(`^Row: \\d{1,9} _id=(\\d{1,15}), ${column}=`, 'gm'))]
    .map((match) => ({ id: Number(match[1]), start: match.index, end: match.index + match[0].length }))
    .filter(({ id }) => ids.has(id));
}

const withoutEnd = (text: string): string => text.replace(/\r?\n$/, '');
