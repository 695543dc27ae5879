import { unclearCharacters } from '../texts/text-difference.ts';

/** Condition of the filter as data, which can be written as code or tested by the runtime's own matcher. */
export type Condition =
  | { readonly method: KindMethod }
  | { readonly method: 'hasText' | 'hasDescription' | 'hasId' | 'hasClass'; readonly value: string }
  | { readonly method: RelationMethod; readonly of: readonly Condition[] }
  | { readonly method: 'nth'; readonly position: number };

export type KindMethod =
  | 'isButton'
  | 'isEditText'
  | 'isTextView'
  | 'isImage'
  | 'isCheckBox'
  | 'isRadioButton'
  | 'isSwitch'
  | 'isWebView'
  | 'isClickable'
  | 'isScrollable';

export type SideMethod = 'rightOf' | 'leftOf' | 'below' | 'above';
type RelationMethod = SideMethod | 'childOf' | 'hasDescendant';

/** Converts conditions to the argument of `filterAdvanced` and `waitForNode`. */
export const toNodeConditions =
  (conditions: readonly Condition[]): NodeConditions =>
  (filter) =>
    conditions.reduce(addCondition, filter);

function addCondition(filter: AndroidNodeFilter, condition: Condition): AndroidNodeFilter {
  if ('value' in condition) return filter[condition.method](condition.value);
  if ('of' in condition) return filter[condition.method](toNodeConditions(condition.of));
  if ('position' in condition) return filter.nth(condition.position);
  return filter[condition.method]();
}

const parameterNames = ['f', 'g', 'h'];

/** Writes code such as `(f) => f.isSwitch().rightOf((g) => g.hasText('Bluetooth'))`. */
export function writeConditions(conditions: readonly Condition[], depth = 0): string {
  const name = parameterNames[depth] ?? `f${depth}`;
  return `(${name}) => ${name}${conditions.map((one) => writeCondition(one, depth)).join('')}`;
}

function writeCondition(condition: Condition, depth: number): string {
  const call = (argument: string): string => `.${condition.method}(${argument})`;
  if ('value' in condition) return call(quote(condition.value));
  if ('of' in condition) return call(writeConditions(condition.of, depth + 1));
  return call('position' in condition ? String(condition.position) : '');
}

const escapes: Readonly<Record<string, string>> = {
  '\n': String.raw`\n`,
  '\r': String.raw`\r`,
  '\t': String.raw`\t`,
  '\\': String.raw`\\`,
  "'": String.raw`\'`,
};

/** Writes a string literal for an automation; invisible characters are escaped by code point. */
export const quote = (text: string): string =>
  `'${text.replaceAll(/['\\]/g, escaped).replaceAll(unclearCharacters, escaped)}'`;

function escaped(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  const byNumber = code.length > 4 ? `u{${code}}` : `u${code.padStart(4, '0')}`;
  return escapes[character] ?? `\\${byNumber}`;
}
