import {
  IsArray,
  IsEnum,
  IsLiteral,
  IsObject,
  IsRecord,
  IsString,
  IsUnion,
  type TObject,
  type TSchema,
  type TUnion,
} from 'typebox';

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A keyword of a schema, such as `maxLength`. */
export const keywordOf = (schema: TSchema, name: string): unknown =>
  new Map<string, unknown>(Object.entries(schema)).get(name);

/** Objects that a field tells apart, such as the `type` of a step. */
export interface Choice {
  readonly field: string;
  readonly variants: ReadonlyMap<string, TObject>;
}

export const isClosedObject = (schema: TObject): boolean =>
  keywordOf(schema, 'additionalProperties') === false;

/** Undefined: nothing tells the variants of the union apart. */
export function choiceOf({ anyOf }: TUnion): Choice | undefined {
  const objects = anyOf.filter(IsObject);
  const [first] = objects;
  if (first === undefined || objects.length < anyOf.length) return undefined;
  const field = Object.keys(first.properties).find((name) =>
    objects.every((one) => constantOf(one, name) !== undefined),
  );
  if (field === undefined) return undefined;
  return { field, variants: new Map(objects.map((one) => [constantOf(one, field) ?? '', one])) };
}

function constantOf({ properties }: TObject, name: string): string | undefined {
  const field = properties[name];
  return IsLiteral(field) && typeof field.const === 'string' ? field.const : undefined;
}

/** Finds the schema that a value means: of a union the variant with its kind of value, or with the constant that it names. */
export function variantOf(schema: TSchema, value: unknown): TSchema {
  if (!IsUnion(schema)) return schema;
  const choice = choiceOf(schema);
  if (choice !== undefined) {
    const name = isFields(value) ? value[choice.field] : undefined;
    return (typeof name === 'string' ? choice.variants.get(name) : undefined) ?? schema;
  }
  const isMeant = (variant: TSchema): boolean =>
    Array.isArray(value) ? IsArray(variant) : isFields(value) && (IsObject(variant) || IsRecord(variant));
  return schema.anyOf.find(isMeant) ?? schema;
}

/** Whether a text is what the schema asks for, be it right or wrong. Then it is never read as JSON. */
export function takesText(schema: TSchema, text: string): boolean {
  if (IsUnion(schema)) {
    const areTexts = schema.anyOf.every((variant) => IsString(variant) || constantsOf(variant) !== undefined);
    return (
      areTexts ||
      schema.anyOf.some((variant) => IsString(variant) || constantsOf(variant)?.includes(text) === true)
    );
  }
  return IsString(schema) || constantsOf(schema) !== undefined || isAnything(schema);
}

/** Undefined: the schema is no choice of texts. */
function constantsOf(schema: TSchema): readonly string[] | undefined {
  const values: readonly unknown[] = IsEnum(schema) ? schema.enum : IsLiteral(schema) ? [schema.const] : [];
  const texts = values.filter((value) => typeof value === 'string');
  return texts.length === values.length && texts.length > 0 ? texts : undefined;
}

const isAnything = (schema: TSchema): boolean =>
  ['type', 'anyOf', 'enum', 'const'].every((keyword) => !Object.hasOwn(schema, keyword));
