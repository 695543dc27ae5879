import { isSchema, type JsonSchema } from './example-of.ts';

/** Collects what the document names, which is each thing once, and leaves references in its places. */
export class Components {
  /** Those with a title, and the bodies of operations. */
  readonly schemas: Record<string, unknown> = {};
  /** Of failures: operations share most of them. */
  readonly responses: Record<string, object> = {};
  /** The body of an error is in some two thousand replies. */
  readonly #taken = new Map<object, unknown>();

  /** `schema` as the document has it. */
  refer(schema: object): unknown {
    // Whatever TypeBox keeps beside the schema is gone after this.
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
