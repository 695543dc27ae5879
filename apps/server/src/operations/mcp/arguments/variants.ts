import { choiceOf } from '@phalanx/protocol';
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
} from 'typebox';

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the value of a keyword of a schema, such as `maxLength`. */
export const keywordOf = (schema: TSchema, name: string): unknown =>
  new Map<string, unknown>(Object.entries(schema)).get(name);

export const isClosedObject = (schema: TObject): boolean =>
  keywordOf(schema, 'additionalProperties') === false;

/** Resolves the schema that a value addresses: for a union, the variant with the value's kind or constant. */
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

/** Whether the schema expects a text, valid or not. Such a text is never parsed as JSON. */
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

/** Returns the constants of a schema that is a choice of texts; otherwise undefined. */
function constantsOf(schema: TSchema): readonly string[] | undefined {
  const values: readonly unknown[] = IsEnum(schema) ? schema.enum : IsLiteral(schema) ? [schema.const] : [];
  const texts = values.filter((value) => typeof value === 'string');
  return texts.length === values.length && texts.length > 0 ? texts : undefined;
}

const isAnything = (schema: TSchema): boolean =>
  ['type', 'anyOf', 'enum', 'const'].every((keyword) => !Object.hasOwn(schema, keyword));
