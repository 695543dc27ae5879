/** A parameter that a form can ask for; what is more than that is written as JSON. */
export interface ParameterField {
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly kind: 'text' | 'number' | 'boolean' | 'choice' | 'json';
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
  if (type === 'number' || type === 'integer') return 'number';
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

/** What the form begins with: what was given last, else the defaults of the schema. */
export function initialValues(fields: readonly ParameterField[], last: JsonObject): JsonObject {
  const entries = fields.map(({ name, initial }) => [name, last[name] ?? initial] as const);
  return { ...last, ...Object.fromEntries(entries.filter(([, value]) => value !== undefined)) };
}
