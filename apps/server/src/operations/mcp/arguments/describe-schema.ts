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
  type TSchema,
} from 'typebox';

import { keywordOf } from './variants.ts';

/** Describes the expected value, to follow "must be". */
export function expectedOf(schema: TSchema): string {
  if (IsEnum(schema)) return `one of ${schema.enum.join(', ')}`;
  if (IsLiteral(schema)) return JSON.stringify(schema.const);
  if (IsBoolean(schema)) return 'true or false';
  if (IsInteger(schema)) return `a whole number${range(schema, ['minimum', 'maximum'], 'from')}`;
  if (IsNumber(schema)) return `a number${range(schema, ['minimum', 'maximum'], 'from')}`;
  if (IsString(schema)) return `a text${range(schema, ['minLength', 'maxLength'], 'of', 'character')}`;
  if (IsArray(schema)) return `an array${range(schema, ['minItems', 'maxItems'], 'of', 'item')}`;
  if (IsUnion(schema) && choiceOf(schema) === undefined) return eitherOf(schema.anyOf.map(expectedOf));
  return `an object${range(schema, ['minProperties', 'maxProperties'], 'of', 'field')}`;
}

function limitOf(schema: TSchema, name: string): number | undefined {
  const limit = keywordOf(schema, name);
  return typeof limit === 'number' ? limit : undefined;
}

function range(schema: TSchema, names: readonly [string, string], word: string, of = ''): string {
  const [min, max] = names.map((name) => limitOf(schema, name));
  const what = of === '' ? '' : ` ${of}${(max ?? min) === 1 ? '' : 's'}`;
  if (min !== undefined && max !== undefined) return ` ${word} ${min} to ${max}${what}`;
  if (min !== undefined) return ` of at least ${min}${what}`;
  return max === undefined ? '' : ` of at most ${max}${what}`;
}

const eitherOf = (texts: readonly string[]): string =>
  texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1) ?? ''}`;

/** Returns a valid value: the first example of the schema, or a minimal one. */
export function exampleOf(schema: TSchema): unknown {
  const examples = keywordOf(schema, 'examples');
  if (Array.isArray(examples)) return examples[0];
  if (IsEnum(schema)) return schema.enum[0];
  if (IsLiteral(schema)) return schema.const;
  if (IsString(schema)) return 'text';
  if (IsInteger(schema) || IsNumber(schema)) return Math.max(1, limitOf(schema, 'minimum') ?? 1);
  if (IsBoolean(schema)) return true;
  if (IsArray(schema)) return [exampleOf(schema.items)];
  if (IsUnion(schema)) return exampleOf(schema.anyOf[0] ?? {});
  if (IsRecord(schema)) return { name: 'value' };
  if (!IsObject(schema)) return 'value';
  const fields = Object.entries(schema.properties).filter(([, field]) => !IsOptional(field));
  return Object.fromEntries(fields.map(([name, field]) => [name, exampleOf(field)]));
}
