import { choiceOf } from '@phalanx/protocol';
import {
  IsArray,
  IsBoolean,
  IsEnum,
  IsInteger,
  IsLiteral,
  IsNumber,
  IsObject,
  IsOptional,
  IsRecord,
  IsString,
  IsUnion,
  type TObject,
  type TSchema,
} from 'typebox';

/** Subset of JSON Schema that every known client accepts: many drop references, patterns, and unions of objects. */
export interface ListedSchema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly items?: ListedSchema;
  readonly properties?: Readonly<Record<string, ListedSchema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly ListedSchema[];
}

/**
 * Returns the schema of a tool's arguments for models, which pay for each word of it in every conversation: names,
 * types, and the descriptions of the arguments themselves. Limits, patterns and levels below the fields of an argument
 * are checked, and reported, when the tool is called.
 */
export const listedSchema = ({ properties, required }: TObject): ListedSchema => ({
  type: 'object',
  properties: mapFields(properties, (field) => ({ ...plainOf(field, true), ...descriptionOf(field) })),
  ...requiredOf(required),
});

const descriptionOf = (schema: TSchema): { description?: string } =>
  'description' in schema && typeof schema.description === 'string'
    ? { description: schema.description }
    : {};

const requiredOf = (names: readonly string[] = []): { required?: readonly string[] } =>
  names.length === 0 ? {} : { required: names };

const mapFields = <From, To>(
  fields: Readonly<Record<string, From>>,
  map: (field: From) => To,
): Record<string, To> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, map(field)]));

/** Reduces a schema to the subset. `isOuter`: whether objects are listed with their fields. */
function plainOf(schema: TSchema, isOuter: boolean): ListedSchema {
  if (IsUnion(schema)) {
    const variants = [...(choiceOf(schema)?.variants.values() ?? [])];
    return variants.length > 0
      ? mergedOf(variants, isOuter)
      : anyOf(schema.anyOf.map((one) => plainOf(one, isOuter)));
  }
  if (IsEnum(schema)) return { type: 'string', enum: schema.enum.map(String) };
  if (IsLiteral(schema))
    return typeof schema.const === 'string'
      ? { type: 'string', enum: [schema.const] }
      : { type: typeof schema.const };
  if (IsString(schema)) return { type: 'string' };
  if (IsInteger(schema)) return { type: 'integer' };
  if (IsNumber(schema)) return { type: 'number' };
  if (IsBoolean(schema)) return { type: 'boolean' };
  if (IsArray(schema)) return { type: 'array', items: plainOf(schema.items, isOuter) };
  if (IsObject(schema) && isOuter)
    return {
      type: 'object',
      properties: mapFields(schema.properties, (field) => plainOf(field, false)),
      ...requiredOf(schema.required),
    };
  return IsObject(schema) || IsRecord(schema) ? { type: 'object' } : {};
}

/** Merges variants into one object with the fields of all. A field is required only if every variant requires it. */
function mergedOf(variants: readonly TObject[], isOuter: boolean): ListedSchema {
  if (!isOuter) return { type: 'object' };
  const fields = new Map<string, ListedSchema[]>();
  for (const { properties } of variants)
    for (const [name, field] of Object.entries(properties))
      fields.set(name, [...(fields.get(name) ?? []), plainOf(field, false)]);
  const isRequired = (name: string): boolean =>
    variants.every(({ properties: { [name]: field } }) => field !== undefined && !IsOptional(field));
  return {
    type: 'object',
    properties: mapFields(Object.fromEntries(fields), anyOf),
    ...requiredOf([...fields.keys()].filter(isRequired)),
  };
}

function anyOf(schemas: readonly ListedSchema[]): ListedSchema {
  const all = schemas.flatMap((schema) => schema.anyOf ?? [schema]);
  const texts: readonly string[] = all.flatMap(({ enum: named = [] }) => named);
  const others = all.filter((schema) => schema.enum === undefined);
  const named: ListedSchema[] = texts.length > 0 ? [{ type: 'string', enum: [...new Set(texts)] }] : [];
  const kinds = new Map([...named, ...others].map((schema) => [JSON.stringify(schema), schema]));
  const [only, ...more] = kinds.values();
  return only !== undefined && more.length === 0 ? only : { anyOf: [...kinds.values()] };
}
