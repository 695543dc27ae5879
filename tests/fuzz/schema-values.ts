import { Type, type Static } from 'typebox';
import { Value } from 'typebox/value';
import fc, { type Arbitrary } from 'fast-check';

import { hostileText, hostileValue } from './hostile-values.ts';

/** Keywords of JSON Schema that are used. */
const Schema = Type.Object({
  $ref: Type.Optional(Type.String()),
  type: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
  const: Type.Optional(Type.Unknown()),
  enum: Type.Optional(Type.Array(Type.Unknown())),
  anyOf: Type.Optional(Type.Array(Type.Unknown())),
  items: Type.Optional(Type.Unknown()),
  properties: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  patternProperties: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  required: Type.Optional(Type.Array(Type.String())),
  pattern: Type.Optional(Type.String()),
  minLength: Type.Optional(Type.Number()),
  maxLength: Type.Optional(Type.Number()),
  minItems: Type.Optional(Type.Number()),
  maxItems: Type.Optional(Type.Number()),
  minimum: Type.Optional(Type.Number()),
  maximum: Type.Optional(Type.Number()),
  examples: Type.Optional(Type.Array(Type.Unknown())),
});
type Schema = Static<typeof Schema>;

/** Sources of generated values in addition to the schema. */
export interface ValueSource {
  /** Returns the component that a `$ref` names. */
  component(ref: string): unknown;
  /** Returns existing values for a field of this name, such as an ID; undefined if none are known. */
  known(field: string): Arbitrary<unknown> | undefined;
}

/** Maximum number of generated items in a list. */
const defaultMaxItems = 3;

/** Generates values that are valid, or nearly valid, against a JSON schema. */
export class SchemaValues {
  readonly #source: ValueSource;

  constructor(source: ValueSource) {
    this.#source = source;
  }

  /** Generates valid values. `field` is the name of the described field. */
  fitting(schema: unknown, field = ''): Arbitrary<unknown> {
    const known = this.#source.known(field);
    const made = this.#made(Value.Parse(Schema, schema ?? {}), field);
    if (known === undefined) return made;
    return fc.oneof({ weight: 5, arbitrary: known }, { weight: 1, arbitrary: made });
  }

  /** Generates values that are valid except for one place. */
  nearly(schema: unknown): Arbitrary<unknown> {
    return fc
      .tuple(this.fitting(schema), fc.nat(), hostileValue, fc.nat(3))
      .map(([value, at, wild, way]) => spoilt(value, at, wild, way));
  }

  #made(schema: Schema, field: string): Arbitrary<unknown> {
    if (schema.$ref !== undefined) return this.fitting(this.#source.component(schema.$ref), field);
    if ('const' in schema) return fc.constant(schema.const);
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((one) => this.fitting(one, field)));
    if (schema.type === 'object') return this.#object(schema);
    if (schema.type === 'array') return this.#array(schema, field);
    if (schema.type === 'string') return text(schema);
    return scalar(schema);
  }

  #object({ properties = {}, required = [], patternProperties }: Schema): Arbitrary<unknown> {
    const fields = Object.entries(properties).map(([name, one]): [string, Arbitrary<unknown>] => [
      name,
      this.fitting(one, name),
    ]);
    if (patternProperties === undefined || fields.length > 0)
      return fc.record(Object.fromEntries(fields), { requiredKeys: required });
    const [of] = Object.values(patternProperties);
    const value = of === undefined ? hostileValue : this.fitting(of);
    return fc.array(fc.tuple(hostileText, value), { maxLength: 3 }).map((pairs) => Object.fromEntries(pairs));
  }

  #array({ items, minItems = 0, maxItems = defaultMaxItems }: Schema, field: string): Arbitrary<unknown> {
    // A tuple has a schema for each position.
    if (Array.isArray(items)) return fc.tuple(...items.map((one: unknown) => this.fitting(one)));
    const maxLength = Math.max(minItems, Math.min(maxItems, defaultMaxItems));
    return fc.array(this.fitting(items, field.replace(/s$/, '')), { minLength: minItems, maxLength });
  }
}

function text({ pattern, minLength = 0, maxLength = 40, examples = [] }: Schema): Arbitrary<unknown> {
  const fits = (value: string): boolean =>
    (pattern === undefined || new RegExp(pattern).test(value)) &&
    value.length >= minLength &&
    value.length <= maxLength;
  if (pattern?.includes('{8}-') === true) return fc.oneof(fc.uuid(), fc.constantFrom(...orNone(examples)));
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern), { maxLength: 60 });
  const typical = fc.string({
    unit: 'grapheme',
    minLength,
    maxLength: Math.max(minLength, Math.min(maxLength, 20)),
  });
  return fc.oneof(
    typical,
    fc.constantFrom(...orNone(examples)),
    hostileText.map((value) => (fits(value) ? value : 'a'.repeat(Math.max(1, minLength)))),
  );
}

function scalar({ type, minimum, maximum }: Schema): Arbitrary<unknown> {
  const bound = Number.MAX_SAFE_INTEGER;
  const [min, max] = [Math.max(minimum ?? -bound, -bound), Math.min(maximum ?? bound, bound)];
  if (type === 'integer')
    return fc.oneof(
      fc.integer({ min, max: Math.min(max, Math.max(min, 0) + 10) }),
      fc.constantFrom(min, max),
    );
  if (type === 'number') return fc.double({ min, max, noNaN: true });
  if (type === 'boolean') return fc.boolean();
  if (type === 'null') return fc.constant(null);
  return hostileValue;
}

const orNone = (examples: readonly unknown[]): unknown[] => (examples.length === 0 ? ['x'] : [...examples]);

/** Returns `value` with one invalid place. */
function spoilt(value: unknown, at: number, wild: unknown, way: number): unknown {
  if (typeof value !== 'object' || value === null) return wild;
  const entries = Object.entries(value);
  if (entries.length === 0) return wild;
  const place = at % entries.length;
  const [key, inner] = entries[place] ?? ['', undefined];
  const rest = entries.filter((_, index) => index !== place);
  const put = (made: [string, unknown][]): unknown =>
    Array.isArray(value) ? made.map(([, one]) => one) : Object.fromEntries(made);
  if (way === 0) return put(rest);
  if (way === 1) return put([...entries, ['__proto__', wild]]);
  const changed = way === 2 ? spoilt(inner, at >> 3, wild, way) : wild;
  return put([...entries.slice(0, place), [key, changed], ...entries.slice(place + 1)]);
}
