import { IsArray, IsObject, IsOptional, IsRecord, type TObject, type TSchema } from 'typebox';

import { JsonScan } from '../../../http/requests/bodies/json-bounds.ts';
import { type Fields, isClosedObject, isFields, keywordOf, takesText, variantOf } from './variants.ts';

/** Maximum number of values in all JSON texts of a call. The MCP library gets the same limit for the other values. */
export const maxValues = 10_000;
const maxDepth = 64;

/**
 * Reads the arguments that MCP clients send for a schema. Many clients send arrays, objects, numbers and booleans as
 * JSON text, and `null` or an empty text for omitted fields.
 */
export class GivenValues {
  #left = maxValues;
  #excess: string | undefined;

  /** Exceeded limit of the JSON texts, as the end of a sentence that begins with "it". */
  get excess(): string | undefined {
    return this.#excess;
  }

  /** Converts a value to the form of the schema. A value that doesn't fit is returned unchanged. */
  read(schema: TSchema, value: unknown): unknown {
    if (typeof value === 'string') {
      const parsed = takesText(schema, value) ? undefined : this.#parse(value);
      // Some clients encode JSON text as JSON text again.
      return parsed === undefined ? value : this.read(schema, parsed);
    }
    const variant = variantOf(schema, value);
    if (IsArray(variant) && Array.isArray(value)) return value.map((item) => this.read(variant.items, item));
    if (IsObject(variant) && isFields(value)) return this.#readFields(variant, value);
    const [values] = IsRecord(variant) ? Object.values(variant.patternProperties) : [];
    if (values === undefined || !isFields(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, given]) => [name, this.read(values, given)]));
  }

  #readFields(object: TObject, fields: Fields): Fields {
    const { properties } = object;
    const isClosed = isClosedObject(object);
    const kept = Object.entries(fields).flatMap(([name, given]) => {
      const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
      const value = schema === undefined ? given : this.read(schema, given);
      const mayBeLeftOut = schema === undefined ? isClosed : IsOptional(schema);
      return mayBeLeftOut && isNothing(schema, value) ? [] : [[name, value] as const];
    });
    return Object.fromEntries(kept);
  }

  /** Parses JSON text; undefined when it is not JSON or exceeds a limit. */
  #parse(text: string): unknown {
    if (this.#excess !== undefined) return undefined;
    const scan = new JsonScan({ depth: maxDepth, names: this.#left, values: this.#left });
    this.#excess = scan.push(Buffer.from(text));
    this.#left -= scan.values;
    if (this.#excess !== undefined) return undefined;
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  }
}

/** Whether a value counts as omitted: null, or an empty text in a field whose schema does not allow it. */
function isNothing(schema: TSchema | undefined, value: unknown): boolean {
  if (typeof value !== 'string') return value === null;
  if (schema === undefined || !takesText(schema, value)) return value.trim() === '';
  return value === '' && keywordOf(schema, 'minLength') !== 0;
}
