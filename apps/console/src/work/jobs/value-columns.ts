import { isObject } from '../../runs/launches/parameter-fields.ts';

/** More keys are one column with JSON: nobody reads across so many. */
const maxColumns = 12;

/** A column of a table of values: of the key of objects, or of what has no columns of its own. */
export interface ValueColumn {
  readonly header: string;
  readonly textOf: (value: unknown) => string;
}

/** The keys of objects in the order of their first appearance, and a column `title` for everything else. */
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

/** A text as it is, and everything else as JSON. */
function valueText(value: unknown): string {
  if (!isGiven(value)) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
