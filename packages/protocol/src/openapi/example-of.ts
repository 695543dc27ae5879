/** A JSON Schema as it stands in the document. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function ofObject(schema: JsonSchema): Record<string, unknown> {
  const fields = isSchema(schema['properties']) ? Object.entries(schema['properties']) : [];
  return Object.fromEntries(fields.map(([name, field]) => [name, exampleOf(field, name)]));
}

function ofType(schema: JsonSchema, name: string): unknown {
  switch (schema['type']) {
    case 'object':
      return ofObject(schema);
    case 'array':
      return [exampleOf(schema['items'], name)];
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'integer':
    case 'number':
      return schema['minimum'] ?? 1;
    default:
      return name;
  }
}

/** A value that fits `schema`: its own example where it has one. A text without one is called as its field. */
export function exampleOf(schema: unknown, name: string): unknown {
  if (!isSchema(schema)) return name;
  const [example] = listOf(schema['examples']);
  if (example !== undefined) return example;
  if ('const' in schema) return schema['const'];
  const [choice] = listOf(schema['enum']);
  if (choice !== undefined) return choice;
  const [alternative] = listOf(schema['anyOf']);
  return alternative === undefined ? ofType(schema, name) : exampleOf(alternative, name);
}
