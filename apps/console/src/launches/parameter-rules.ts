export type SimpleKind = 'text' | 'number' | 'integer' | 'choice';

/** What a form checks of a JSON Schema. Patterns are left to the service: one can take a browser very long. */
export interface ValueRules {
  readonly kind: SimpleKind;
  readonly choices: readonly (string | number)[];
  readonly format: string | undefined;
  readonly least: number | undefined;
  readonly most: number | undefined;
  readonly above: number | undefined;
  readonly below: number | undefined;
  /** In characters, or values of a list. */
  readonly leastLength: number | undefined;
  readonly mostLength: number | undefined;
}

interface Format {
  readonly isRight: (text: string) => boolean;
  readonly words: string;
  /** Of the input in which it is typed. */
  readonly type: 'email' | 'url' | 'date' | 'text';
}

const formats: Readonly<Record<string, Format>> = {
  email: {
    isRight: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
    words: 'an e-mail address, such as ada@example.com',
    type: 'email',
  },
  uri: {
    isRight: (text) => URL.canParse(text),
    words: 'an address, such as https://example.com',
    type: 'url',
  },
  date: {
    isRight: (text) => /^\d{4}-\d\d-\d\d$/.test(text),
    words: 'a date, such as 2030-01-31',
    type: 'date',
  },
  'date-time': {
    isRight: (text) => /^\d{4}-\d\d-\d\d[t ]\d\d:\d\d:\d\d(\.\d+)?(z|[+-]\d\d:?\d\d)$/i.test(text),
    words: 'a time, such as 2030-01-31T12:00:00Z',
    type: 'text',
  },
};

export const formatOf = ({ format }: ValueRules): Format | undefined =>
  format !== undefined && Object.hasOwn(formats, format) ? formats[format] : undefined;

/** What is wrong with a value, as far as a form can tell. */
export function valueProblem(rules: ValueRules, value: unknown): string | undefined {
  if (rules.kind === 'choice')
    return rules.choices.some((choice) => choice === value)
      ? undefined
      : `This has to be one of ${rules.choices.join(', ')}.`;
  return rules.kind === 'text' ? textProblem(rules, value) : numberProblem(rules, value);
}

function textProblem(rules: ValueRules, value: unknown): string | undefined {
  if (typeof value !== 'string') return 'This has to be a text.';
  const length = lengthProblem(rules, [...value].length, 'characters');
  if (length !== undefined) return length;
  const format = formatOf(rules);
  return format === undefined || format.isRight(value) ? undefined : `This has to be ${format.words}.`;
}

function lengthProblem(
  { leastLength, mostLength }: ValueRules,
  length: number,
  unit: string,
): string | undefined {
  if (leastLength !== undefined && length < leastLength) return `At least ${leastLength} ${unit} are needed.`;
  return mostLength !== undefined && length > mostLength
    ? `At most ${mostLength} ${unit} are allowed.`
    : undefined;
}

function numberProblem({ kind, least, most, above, below }: ValueRules, value: unknown): string | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'This has to be a number.';
  if (kind === 'integer' && !Number.isInteger(value)) return 'This has to be a whole number.';
  if (least !== undefined && value < least) return `This has to be at least ${least}.`;
  if (most !== undefined && value > most) return `This has to be at most ${most}.`;
  if (above !== undefined && value <= above) return `This has to be more than ${above}.`;
  return below !== undefined && value >= below ? `This has to be less than ${below}.` : undefined;
}

/** `rules`: of the list itself. */
export function listProblem(rules: ValueRules, itemRules: ValueRules, value: unknown): string | undefined {
  if (!Array.isArray(value)) return 'This has to be a list.';
  const length = lengthProblem(rules, value.length, 'values');
  if (length !== undefined) return length;
  const wrong = value.findIndex((item) => valueProblem(itemRules, item) !== undefined);
  return wrong < 0 ? undefined : `Line ${wrong + 1}: ${valueProblem(itemRules, value[wrong]) ?? ''}`;
}

const number = /^-?(\d+|\d*\.\d+)(e[+-]?\d+)?$/i;

/** What is typed, as a value. What is none of its kind stays a text, which `valueProblem` refuses. */
export function typedValue({ kind, choices }: ValueRules, text: string): string | number {
  if (kind === 'choice') return choices.find((choice) => String(choice) === text) ?? text;
  return kind !== 'text' && number.test(text.trim()) ? Number(text) : text;
}
