import { isObject } from '../../runs/launches/parameter-fields.ts';

/**
 * Maximum number of columns. Objects with more keys become one column of JSON, because so wide a table is unreadable.
 */
const maxColumns = 12;

/** Column of a table of values: for one key of objects, or for values without columns of their own. */
export interface ValueColumn {
  readonly header: string;
  readonly textOf: (value: unknown) => string;
}

/** Returns the keys of all objects in order of first appearance, and a column `title` for other values. */
export function valueColumns(title: string, values: Iterable<unknown>): readonly ValueColumn[] {
  const keys = new Set<string>();
  let hasOther = false;
  for (const value of values) {
    if (isObject(value)) for (const key of Object.keys(value)) keys.add(key);
    else hasOther ||= isGiven(value);
  }
  if (keys.size === 0 || keys.size > maxColumns)
    return keys.size > 0 || hasOther ? [{ header: title, textOf: valueText }] : [];
  const columns = [...keys].map((key) => ({
    header: `${title}: ${key}`,
    textOf: (value: unknown) => (isObject(value) ? valueText(value[key]) : ''),
  }));
  const other = { header: title, textOf: (value: unknown) => (isObject(value) ? '' : valueText(value)) };
  return hasOther ? [...columns, other] : columns;
}

const isGiven = (value: unknown): boolean => value !== null && value !== undefined;

/** Formats a string as it is, and any other value as JSON. */
function valueText(value: unknown): string {
  if (!isGiven(value)) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
