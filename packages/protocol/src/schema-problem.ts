import { IsObject, IsUnion, type TSchema } from 'typebox';
import { Errors } from 'typebox/value';

import { choiceOf } from './schema-choice.ts';

interface SchemaError {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: object;
}

export interface SchemaProblem {
  /** Place of the problem, such as `steps[0].on`, or all missing fields; empty for the value as a whole. */
  readonly field: string;
  /** Rest of a sentence that begins with the field, such as `must be a whole number`. */
  readonly problem: string;
}

/** Describes for people the first problem of a value. Undefined when the value is valid. */
export function findSchemaProblem(schema: TSchema, value: unknown): SchemaProblem | undefined {
  const errors: readonly SchemaError[] = Errors(schema, value);
  const [first] = errors;
  if (first === undefined) return undefined;
  return problemOfVariant(schema, value, first) ?? problemOfError(schema, first, errors);
}

function problemOfError(schema: TSchema, first: SchemaError, errors: readonly SchemaError[]): SchemaProblem {
  const field = fieldName(first.instancePath);
  if (first.keyword === 'required') {
    const missing = listed(first.params, 'requiredProperties').map((name) =>
      field === '' ? name : `${field}.${name}`,
    );
    return { field: missing.join(', '), problem: 'is required' };
  }
  const isUnknown = first.keyword === 'boolean' || first.keyword === 'additionalProperties';
  const problem = isUnknown ? unknownProblem(schema, first) : problemOf(first, errors);
  return { field, problem };
}

const maxNameLength = 60;

/** Converts a JSON pointer to a field name: `/device_ids/3` → `device_ids[3]`. */
function fieldName(instancePath: string): string {
  const segments = instancePath.split('/').slice(1).map(unescaped);
  return segments
    .map((segment) => (/^\d+$/.test(segment) ? `[${segment}]` : `.${segment.slice(0, maxNameLength)}`))
    .join('')
    .replace(/^\./, '');
}

/** Decodes a segment of a JSON pointer. */
const unescaped = (segment: string): string => segment.replaceAll('~1', '/').replaceAll('~0', '~');

/**
 * Finds the problem in the variant that the object names by a constant. Undefined when the error is in no such union.
 */
function problemOfVariant(schema: TSchema, value: unknown, error: SchemaError): SchemaProblem | undefined {
  const union = findUnion({ schema, value, instancePath: error.instancePath, schemaPath: error.schemaPath });
  const choice = union && choiceOf(union.schema);
  if (choice === undefined || !isFields(union?.value)) return undefined;
  const name = param(union.value, choice.field);
  const meant = typeof name === 'string' ? choice.variants.get(name) : undefined;
  const inner: SchemaProblem | undefined = meant
    ? findSchemaProblem(meant, union.value)
    : { field: choice.field, problem: `must be one of ${[...choice.variants.keys()].join(', ')}` };
  const parent = fieldName(union.instancePath);
  return inner && { ...inner, field: [parent, inner.field].filter((part) => part !== '').join('.') };
}

const isFields = (value: unknown): value is object => typeof value === 'object' && value !== null;

interface Place {
  readonly schema: TSchema;
  readonly value: unknown;
  readonly instancePath: string;
  readonly schemaPath: string;
}

/** Keywords that a segment of the value's path follows. */
const steps: ReadonlySet<string> = new Set(['properties', 'items', 'patternProperties']);

/** Finds the outermost union on the way to an error. */
function findUnion({ schema, value, instancePath, schemaPath }: Place) {
  const below = instancePath.split('/').slice(1);
  let [at, inside, path]: [unknown, unknown, string] = [schema, value, ''];
  let isStep = false;
  for (const segment of schemaPath.split('/').slice(1).map(unescaped)) {
    if (segment === 'anyOf' && isSchema(at) && IsUnion(at))
      return { schema: at, value: inside, instancePath: path };
    at = isFields(at) ? param(at, segment) : undefined;
    if (isStep || segment === 'items') {
      const name = below.shift() ?? '';
      path += `/${name}`;
      inside = isFields(inside) ? param(inside, unescaped(name)) : undefined;
    }
    isStep = !isStep && steps.has(segment) && segment !== 'items';
  }
  return undefined;
}

const isSchema = (value: unknown): value is TSchema => isFields(value);

const param = (params: object, key: string): unknown =>
  Object.entries(params).find(([name]) => name === key)?.[1];

function listed(params: object, key: string): string[] {
  const value = param(params, key);
  return Array.isArray(value) ? value.map(String) : [];
}

const typeNames: Readonly<Record<string, string>> = {
  array: 'an array',
  integer: 'a whole number',
  object: 'an object',
  null: 'null',
};

const readableType = (type: string): string => typeNames[type] ?? `a ${type}`;

/** Returns the values of all errors of a choice, which fails once for each of its variants. */
function choicesOf(
  error: SchemaError,
  errors: readonly SchemaError[],
  read: (params: object) => string,
): string[] {
  const { keyword, instancePath } = error;
  const same = errors.filter((one) => one.keyword === keyword && one.instancePath === instancePath);
  return [...new Set(same.map(({ params }) => read(params)))];
}

const limitOf = ({ params }: SchemaError): string => String(param(params, 'limit'));

/** Describes a violated minimum count; the usual minimum is 1. */
const tooFew = (error: SchemaError, what: string): string =>
  limitOf(error) === '1' ? 'must not be empty' : `must have at least ${limitOf(error)} ${what}`;

const sentences: Readonly<Record<string, (error: SchemaError, errors: readonly SchemaError[]) => string>> = {
  enum: ({ params }) => `must be one of ${listed(params, 'allowedValues').join(', ')}`,
  const: (error, errors) =>
    `must be one of ${choicesOf(error, errors, (params) => String(param(params, 'allowedValue'))).join(', ')}`,
  pattern: ({ params }) =>
    String(param(params, 'pattern')).startsWith('^[0-9a-fA-F]{8}-')
      ? 'must be a UUID'
      : 'does not have the required form',
  type: (error, errors) =>
    `must be ${choicesOf(error, errors, (params) => readableType(String(param(params, 'type')))).join(' or ')}`,
  minimum: (error) => `must be at least ${limitOf(error)}`,
  maximum: (error) => `must be at most ${limitOf(error)}`,
  exclusiveMinimum: (error) => `must be more than ${limitOf(error)}`,
  exclusiveMaximum: (error) => `must be less than ${limitOf(error)}`,
  minLength: (error) => tooFew(error, 'characters'),
  minItems: (error) => tooFew(error, 'items'),
  minProperties: (error) => tooFew(error, 'fields'),
  maxProperties: (error) => `must not have more than ${limitOf(error)} fields`,
  maxLength: (error) => `must not have more than ${limitOf(error)} characters`,
  maxItems: (error) => `must not have more than ${limitOf(error)} items`,
  uniqueItems: () => 'must not have the same item twice',
};

/** Returns the sentence for an error. Keywords without a sentence concern schemas, which callers don't know. */
const problemOf = (error: SchemaError, errors: readonly SchemaError[]): string =>
  sentences[error.keyword]?.(error, errors) ?? 'does not have the required form';

/** Lists the existing fields, or explains that a name has the wrong form. */
function unknownProblem(schema: TSchema, { schemaPath }: SchemaError): string {
  const known = fieldsAt(schema, schemaPath);
  if (known.length === 0) return 'has a name that is not allowed there';
  return `is not known: the fields there are ${known.join(', ')}`;
}

/** Returns the field names of the object whose `additionalProperties` is at that pointer. */
function fieldsAt(schema: TSchema, schemaPath: string): string[] {
  const segments = schemaPath.split('/').slice(1).map(unescaped);
  if (segments.at(-1) === 'additionalProperties') segments.pop();
  let at: unknown = schema;
  for (const segment of segments) at = typeof at === 'object' && at !== null ? param(at, segment) : undefined;
  return IsObject(at) ? Object.keys(at.properties) : [];
}
