/** Collects the components of the document, each of them once, and replaces them by references. */
export class Components {
  /** Schemas with a title, and the bodies of operations. */
  readonly schemas: Record<string, unknown> = {};
  /** Responses of failures; most operations share them. */
  readonly responses: Record<string, object> = {};
  /** Cached results, because some two thousand replies contain the body of an error. */
  readonly #taken = new Map<object, unknown>();

  /** Returns the schema in the form of the document. */
  refer(schema: object): unknown {
    // The copy omits the properties that TypeBox keeps in a schema.
    const taken = this.#taken.get(schema) ?? this.#take(JSON.parse(JSON.stringify(schema)));
    this.#taken.set(schema, taken);
    return taken;
  }

  /** Returns a reference to the schema as a component, named `name` unless it has its own title. */
  referAs(name: string, schema: object): unknown {
    return this.refer({ title: name, ...schema });
  }

  referResponse(name: string, response: object): object {
    setOnce(this.responses, name, response);
    return { $ref: `#/components/responses/${name}` };
  }

  #take(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#take(item));
    if (!isSchema(value)) return value;
    const { title } = value;
    if (typeof title !== 'string') return this.#inside(value);
    setOnce(this.schemas, title, this.#inside(value));
    return { $ref: `#/components/schemas/${title}` };
  }

  #inside(schema: JsonSchema): JsonSchema {
    return Object.fromEntries(
      Object.entries(schema).map(([key, value]) => [key, key === 'examples' ? value : this.#take(value)]),
    );
  }
}

function setOnce<Value>(components: Record<string, Value>, name: string, value: Value): void {
  const known = (components[name] ??= value);
  if (JSON.stringify(known) !== JSON.stringify(value)) throw new Error(`Two components are called ${name}.`);
}

/** JSON Schema in the form of the document. */
type JsonSchema = Readonly<Record<string, unknown>>;

const isSchema = (value: unknown): value is JsonSchema =>
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

/**
 * Returns a value that matches `schema`: its own example if it has one. The value of a text without an example is the
 * name of its field.
 */
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
