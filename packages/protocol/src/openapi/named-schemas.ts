import { isSchema, type JsonSchema } from './example-of.ts';

/** Collects the schemas that have a title as components of the document, and leaves references in their places. */
export class NamedSchemas {
  readonly components: Record<string, unknown> = {};
  /** The body of an error is in some two thousand replies. */
  readonly #taken = new Map<object, unknown>();

  /** `schema` as the document has it. */
  refer(schema: object): unknown {
    // Whatever TypeBox keeps beside the schema is gone after this.
    const taken = this.#taken.get(schema) ?? this.#take(JSON.parse(JSON.stringify(schema)));
    this.#taken.set(schema, taken);
    return taken;
  }

  #take(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#take(item));
    if (!isSchema(value)) return value;
    const { title } = value;
    if (typeof title !== 'string') return this.#inside(value);
    this.components[title] ??= this.#inside(value);
    return { $ref: `#/components/schemas/${title}` };
  }

  #inside(schema: JsonSchema): JsonSchema {
    return Object.fromEntries(
      Object.entries(schema).map(([key, value]) => [key, key === 'examples' ? value : this.#take(value)]),
    );
  }
}
