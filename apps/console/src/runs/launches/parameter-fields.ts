/** Parameter that the form has a field for; more complex ones are entered as JSON. */
export interface ParameterField {
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly kind: SimpleKind | 'boolean' | 'list' | 'json';
  /** Constraints on the value, or on the list as a whole. */
  readonly rules: ValueRules;
  /** Constraints on each item of a list. */
  readonly itemRules: ValueRules;
  readonly isRequired: boolean;
  readonly initial: unknown;
}

type JsonObject = Record<string, unknown>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const textAt = (object: JsonObject, name: string): string | undefined => {
  const value = object[name];
  return typeof value === 'string' ? value : undefined;
};

function choicesOf(schema: JsonObject): readonly (string | number)[] {
  const given = schema['enum'];
  if (!Array.isArray(given)) return [];
  const choices = given.filter((one) => typeof one === 'string' || typeof one === 'number');
  const areDistinct = new Set(choices.map(String)).size === given.length;
  return areDistinct ? choices : [];
}

function simpleKindOf(schema: JsonObject): SimpleKind | undefined {
  if (choicesOf(schema).length > 0) return 'choice';
  const type = schema['type'];
  if (type === 'string') return 'text';
  return type === 'number' || type === 'integer' ? type : undefined;
}

function kindOf(schema: JsonObject): ParameterField['kind'] {
  const type = schema['type'];
  const items = schema['items'];
  if (type === 'array') return isObject(items) && simpleKindOf(items) !== undefined ? 'list' : 'json';
  return simpleKindOf(schema) ?? (type === 'boolean' ? 'boolean' : 'json');
}

const numberAt = (object: JsonObject, name: string): number | undefined => {
  const value = object[name];
  return typeof value === 'number' ? value : undefined;
};

const rulesOf = (schema: JsonObject): ValueRules => ({
  kind: simpleKindOf(schema) ?? 'text',
  choices: choicesOf(schema),
  format: textAt(schema, 'format'),
  min: numberAt(schema, 'minimum'),
  max: numberAt(schema, 'maximum'),
  above: numberAt(schema, 'exclusiveMinimum'),
  below: numberAt(schema, 'exclusiveMaximum'),
  minLength: numberAt(schema, 'minLength') ?? numberAt(schema, 'minItems'),
  maxLength: numberAt(schema, 'maxLength') ?? numberAt(schema, 'maxItems'),
});

/** Returns the fields of `parameters.schema.json`; undefined if the schema is not an object with properties. */
export function fieldsOf(schemaText: string): readonly ParameterField[] | undefined {
  const schema = parseObject(schemaText);
  const properties = schema?.['properties'];
  if (schema === undefined || !isObject(properties)) return undefined;
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(properties).map(([name, given]) => {
    const property = isObject(given) ? given : {};
    return {
      name,
      title: textAt(property, 'title') ?? name,
      description: textAt(property, 'description'),
      kind: kindOf(property),
      rules: rulesOf(property),
      itemRules: rulesOf(isObject(property['items']) ? property['items'] : {}),
      isRequired: required.includes(name),
      initial: property['default'],
    };
  });
}

export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns problems with the values by field, as far as a form can check them; the service checks the rest. */
export function problemsOf(
  fields: readonly ParameterField[],
  values: JsonObject,
): ReadonlyMap<string, string> {
  const problems = new Map<string, string>();
  for (const field of fields) {
    const problem = problemOf(field, values[field.name]);
    if (problem !== undefined) problems.set(field.name, problem);
  }
  return problems;
}

function problemOf(
  { kind, rules, itemRules, isRequired }: ParameterField,
  value: unknown,
): string | undefined {
  if (value === undefined || value === '')
    return isRequired && kind !== 'boolean' ? 'This is required.' : undefined;
  if (kind === 'boolean' || kind === 'json') return undefined;
  return kind === 'list' ? listProblem(rules, itemRules, value) : valueProblem(rules, value);
}

/** Rewrites a reason such as ` must be string.`, or `.0 must be string` for an item of a list. */
function refusalWords(reason: string): string {
  const words = reason.trim().replace(/\.$/, '');
  const [, place, problem = ''] = /^\.(\S+) (.*)$/.exec(words) ?? [];
  if (place === undefined) return `This ${words}.`;
  return /^\d+$/.test(place) ? `Line ${Number(place) + 1} ${problem}.` : `${place} ${problem}.`;
}

/** Returns problems by field, parsed from the message of `invalid_parameters`. */
export function refusalsOf(fields: readonly ParameterField[], message: string): ReadonlyMap<string, string> {
  const reasons = message.split(/; |: /);
  const found = fields.flatMap(({ name }): [string, string][] => {
    const place = `automationParameters.${name}`;
    const reason = reasons.find((one) => one.startsWith(`${place} `) || one.startsWith(`${place}.`));
    return reason === undefined ? [] : [[name, refusalWords(reason.slice(place.length))]];
  });
  return new Map(found);
}

/** Returns the initial values of the form: those of the last launch, or else the defaults of the schema. */
export function initialValues(fields: readonly ParameterField[], last: JsonObject): JsonObject {
  const entries = fields.map(({ name, initial }) => [name, last[name] ?? initial] as const);
  return { ...last, ...Object.fromEntries(entries.filter(([, value]) => value !== undefined)) };
}

type SimpleKind = 'text' | 'number' | 'integer' | 'choice';

/**
 * Constraints of a JSON Schema that the form checks. Patterns are left to the service, because a regular expression
 * can block the browser for very long.
 */
export interface ValueRules {
  readonly kind: SimpleKind;
  readonly choices: readonly (string | number)[];
  readonly format: string | undefined;
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly above: number | undefined;
  readonly below: number | undefined;
  /** Minimum number of characters, or of items in a list. */
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
}

interface Format {
  readonly isRight: (text: string) => boolean;
  readonly words: string;
  /** Type of the input element. */
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

/** Returns the problem with a value, as far as a form can check it. */
function valueProblem(rules: ValueRules, value: unknown): string | undefined {
  if (rules.kind === 'choice')
    return rules.choices.some((choice) => choice === value)
      ? undefined
      : `This must be one of ${rules.choices.join(', ')}.`;
  return rules.kind === 'text' ? textProblem(rules, value) : numberProblem(rules, value);
}

function textProblem(rules: ValueRules, value: unknown): string | undefined {
  if (typeof value !== 'string') return 'This must be a text.';
  const length = lengthProblem(rules, [...value].length, 'characters');
  if (length !== undefined) return length;
  const format = formatOf(rules);
  return format === undefined || format.isRight(value) ? undefined : `This must be ${format.words}.`;
}

function lengthProblem(
  { minLength, maxLength }: ValueRules,
  length: number,
  unit: string,
): string | undefined {
  if (minLength !== undefined && length < minLength) return `At least ${minLength} ${unit} are needed.`;
  return maxLength !== undefined && length > maxLength
    ? `At most ${maxLength} ${unit} are allowed.`
    : undefined;
}

function numberProblem({ kind, min, max, above, below }: ValueRules, value: unknown): string | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'This must be a number.';
  if (kind === 'integer' && !Number.isInteger(value)) return 'This must be a whole number.';
  if (min !== undefined && value < min) return `This must be at least ${min}.`;
  if (max !== undefined && value > max) return `This must be at most ${max}.`;
  if (above !== undefined && value <= above) return `This must be more than ${above}.`;
  return below !== undefined && value >= below ? `This must be less than ${below}.` : undefined;
}

/** Returns the problem with a list. `rules` apply to the list itself. */
function listProblem(rules: ValueRules, itemRules: ValueRules, value: unknown): string | undefined {
  if (!Array.isArray(value)) return 'This must be a list.';
  const length = lengthProblem(rules, value.length, 'values');
  if (length !== undefined) return length;
  const wrong = value.findIndex((item) => valueProblem(itemRules, item) !== undefined);
  return wrong < 0 ? undefined : `Line ${wrong + 1}: ${valueProblem(itemRules, value[wrong]) ?? ''}`;
}

const number = /^-?(\d+|\d*\.\d+)(e[+-]?\d+)?$/i;

/** Converts typed text to a value. Text of the wrong kind stays a string, which `valueProblem` rejects. */
export function typedValue({ kind, choices }: ValueRules, text: string): string | number {
  if (kind === 'choice') return choices.find((choice) => String(choice) === text) ?? text;
  return kind !== 'text' && number.test(text.trim()) ? Number(text) : text;
}
