/** Collects what the document names, which is each thing once, and leaves references in its places. */
export class Components {
  /** Those with a title, and the bodies of operations. */
  readonly schemas: Record<string, unknown> = {};
  /** Responses of failures: operations share most of them. */
  readonly responses: Record<string, object> = {};
  /** The body of an error is in some two thousand replies. */
  readonly #taken = new Map<object, unknown>();

  /** `schema` as the document has it. */
  refer(schema: object): unknown {
    // Copies the schema without the properties that TypeBox keeps beside it.
    const taken = this.#taken.get(schema) ?? this.#take(JSON.parse(JSON.stringify(schema)));
    this.#taken.set(schema, taken);
    return taken;
  }

  /** The same, as a component: called `name` if it has no title of its own. */
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

/** A JSON Schema as it stands in the document. */
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
