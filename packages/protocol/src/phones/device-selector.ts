import { Type, type Static } from 'typebox';

/** Properties of every phone, which selectors use like labels. A label can't have one of these keys. */
export const givenProperties = [
  ...(['id', 'serial', 'name', 'maker', 'model', 'android', 'sdk', 'host', 'state'] as const),
] as const;
type GivenProperty = (typeof givenProperties)[number];
/** Key of a selector term that refers to the phones of a saved selector. */
export const poolKey = 'pool';

/** Selector that matches every phone. */
export const anyPhone = 'sdk>=1';

export const maxLabels = 50;
const labelKey = /^[a-z][a-z0-9_.-]{0,62}$/;
const labelValue = /^[^\p{Cc}\p{Cs},|]{1,100}$/u;
/** Characters that are invisible and that some databases can't store. Line breaks count as whitespace. */
// oxlint-disable-next-line no-control-regex -- the pattern detects control characters
const unreadable = /[\0-\x08\x0e-\x1f\x7f]|\p{Cs}/u;

/** Fields of a phone that selectors use. */
export interface SelectablePhone {
  readonly device_id: string;
  readonly serial: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly brand: string;
  readonly model: string;
  readonly android_version: string;
  readonly sdk_version: number;
  readonly host: { readonly id: string; readonly name: string } | null;
  readonly state: string;
}

const operators = ['!=', '!~', '>=', '<=', '=', '~'] as const;
type Operator = (typeof operators)[number];

/** One condition of a selector, in lower case. */
export interface SelectorTerm {
  readonly key: string;
  readonly operator: Operator;
  readonly values: readonly string[];
}

/** Thrown for an invalid selector or an invalid label. The message gives the reason, without a full stop. */
export class SelectorProblem extends Error {
  override readonly name = 'SelectorProblem';
}

/** Parses a selector. Throws a `SelectorProblem`. */
export function parseSelector(text: string): SelectorTerm[] {
  if (unreadable.test(text)) throw new SelectorProblem('it has control characters, or half of a character');
  return text.split(',').map((term) => parseTerm(term.trim()));
}

function parseTerm(term: string): SelectorTerm {
  const [, key, operator, value] = /^([a-z][a-z0-9_.-]*)\s*(!=|!~|>=|<=|=|~)(.*)$/is.exec(term) ?? [];
  const known = operators.find((one) => one === operator);
  if (key === undefined || value === undefined || known === undefined)
    throw new SelectorProblem(
      term === '' ? 'it has an empty term' : `"${term}" is no term such as country=de or model~Pixel`,
    );
  const values = value.split('|').map((one) => one.trim().toLowerCase());
  if (values.includes('')) throw new SelectorProblem(`"${term}" has an empty value`);
  if (isOfNumbers(known) && values.some((one) => Number.isNaN(Number(one))))
    throw new SelectorProblem(`"${term}" compares with what is no number`);
  return { key: key.toLowerCase(), operator: known, values };
}

const isOfNumbers = (operator: Operator): boolean => operator === '>=' || operator === '<=';

/** Whether all terms match the phone. Pools must already be replaced by their terms. */
export const isSelected = (terms: readonly SelectorTerm[], phone: SelectablePhone): boolean =>
  terms.every((term) => holds(term, phone));

function holds({ key, operator, values }: SelectorTerm, phone: SelectablePhone): boolean {
  const found = propertiesOf(phone, key).map((value) => value.toLowerCase());
  const isAny = (test: (value: string, wanted: string) => boolean): boolean =>
    found.some((value) => values.some((wanted) => test(value, wanted)));
  if (operator === '!=') return !isAny((value, wanted) => value === wanted);
  if (operator === '!~') return !isAny((value, wanted) => value.includes(wanted));
  return isAny(comparisons[operator]);
}

const comparisons: Record<Exclude<Operator, '!=' | '!~'>, (value: string, wanted: string) => boolean> = {
  '=': (value, wanted) => value === wanted,
  '~': (value, wanted) => value.includes(wanted),
  '>=': (value, wanted) => value !== '' && Number(value) >= Number(wanted),
  '<=': (value, wanted) => value !== '' && Number(value) <= Number(wanted),
};

const readers: Record<GivenProperty, (phone: SelectablePhone) => readonly string[]> = {
  id: ({ device_id }) => [device_id],
  serial: ({ serial }) => [serial],
  name: ({ name }) => [name],
  maker: ({ brand }) => [brand],
  model: ({ model }) => [model],
  android: ({ android_version }) => [android_version],
  sdk: ({ sdk_version }) => [String(sdk_version)],
  host: ({ host }) => (host === null ? [] : [host.id, host.name]),
  state: ({ state }) => [state],
};

const isGiven = (key: string): key is GivenProperty => Object.hasOwn(readers, key);

function propertiesOf(phone: SelectablePhone, key: string): readonly string[] {
  if (isGiven(key)) return readers[key](phone);
  const label = Object.hasOwn(phone.labels, key) ? phone.labels[key] : undefined;
  return label === undefined ? [] : [label];
}

/** Throws a `SelectorProblem` when the labels are invalid. */
export function requireLabels(labels: Readonly<Record<string, string>>): void {
  const entries = Object.entries(labels);
  if (entries.length > maxLabels) throw new SelectorProblem(`more than ${maxLabels} labels`);
  for (const [key, value] of entries) {
    if (!labelKey.test(key))
      throw new SelectorProblem(`"${key}" is no key: small letters, digits and _.- from a letter on`);
    if (isGiven(key) || key === poolKey) throw new SelectorProblem(`"${key}" is given and can't be a label`);
    if (!labelValue.test(value) || value.trim() !== value)
      throw new SelectorProblem(
        `the value of "${key}" is empty, too long, or has a comma, "|" or a space at an end`,
      );
  }
}

export const Labels = Type.Record(Type.String(), Type.String(), {
  description: `Up to ${maxLabels}. Keys of small letters, digits and \`_.-\`; values of up to 100 characters without comma and \`|\``,
  examples: [{ country: 'de', rack: '3' }],
});
export type Labels = Static<typeof Labels>;

export const Selector = Type.String({
  minLength: 1,
  maxLength: 1000,
  description:
    'Terms with commas between them, all of which hold: `key=value`, `key!=value`, `key~part`, `key!~part`, `key>=number`, `key<=number`. `|` separates alternatives of a value. Keys are labels, `pool`, and `id`, `serial`, `name`, `maker`, `model`, `android`, `sdk`, `host`, `state`; letter case does not count',
  examples: ['country=de,model~Pixel'],
});
