/** A parameter that a form can ask for; what is more than that is written as JSON. */
export interface ParameterField {
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly kind: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'json';
  readonly choices: readonly string[];
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

function kindOf(schema: JsonObject): ParameterField['kind'] {
  const choices = schema['enum'];
  if (Array.isArray(choices) && choices.every((one) => typeof one === 'string')) return 'choice';
  const type = schema['type'];
  if (type === 'string') return 'text';
  if (type === 'number' || type === 'integer') return type;
  return type === 'boolean' ? 'boolean' : 'json';
}

/** The fields of `parameters.schema.json`; undefined when it is no object with properties. */
export function fieldsOf(schemaText: string): readonly ParameterField[] | undefined {
  const schema = parseObject(schemaText);
  const properties = schema?.['properties'];
  if (schema === undefined || !isObject(properties)) return undefined;
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(properties).map(([name, given]) => {
    const property = isObject(given) ? given : {};
    const choices = kindOf(property) === 'choice' ? property['enum'] : [];
    return {
      name,
      title: textAt(property, 'title') ?? name,
      description: textAt(property, 'description'),
      kind: kindOf(property),
      choices: Array.isArray(choices) ? choices.map(String) : [],
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

/** What is wrong with the values, by field, as far as a form can tell; the service judges the rest. */
export function problemsOf(
  fields: readonly ParameterField[],
  values: JsonObject,
): ReadonlyMap<string, string> {
  const problems = new Map<string, string>();
  for (const { name, kind, isRequired } of fields) {
    const value = values[name];
    if (value === undefined || value === '') {
      if (isRequired && kind !== 'boolean') problems.set(name, 'This is required.');
    } else if (kind === 'number' && typeof value !== 'number') problems.set(name, 'This has to be a number.');
    else if (kind === 'integer' && !Number.isInteger(value))
      problems.set(name, 'This has to be a whole number.');
  }
  return problems;
}

/** What the form begins with: what was given last, else the defaults of the schema. */
export function initialValues(fields: readonly ParameterField[], last: JsonObject): JsonObject {
  const entries = fields.map(({ name, initial }) => [name, last[name] ?? initial] as const);
  return { ...last, ...Object.fromEntries(entries.filter(([, value]) => value !== undefined)) };
}
