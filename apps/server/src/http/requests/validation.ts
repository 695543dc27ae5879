import type { FastifySchemaCompiler } from 'fastify';
import { IsObject, IsUnion, type TSchema } from 'typebox';
import fastJsonStringify from 'fast-json-stringify';
import { Compile, type Validator } from 'typebox/compile';
import { findSchemaProblem, idPageQuery } from '@phalanx/protocol';
import { ApiError } from '../../kernel/errors/api-error.ts';

export const validatorOf = lazily((schema): Validator => Compile(schema));

export const serializerOf = lazily((schema): ((reply: unknown) => string) => fastJsonStringify(schema));

const places: Record<string, { whole: string; field: string }> = {
  body: { whole: 'The body', field: 'Field' },
  querystring: { whole: 'The query', field: 'Query parameter' },
  params: { whole: 'The path', field: 'Path segment' },
  headers: { whole: 'The header', field: 'Header' },
};

const somewhere = { whole: 'The request', field: 'Field' };

const isInteger = (schema: TSchema): boolean => 'type' in schema && schema.type === 'integer';

/** Lists the fields of a query that may be whole numbers. */
function listNumbers(schema: TSchema): ReadonlySet<string> {
  const fields = IsObject(schema) ? Object.entries(schema.properties) : [];
  const may = (field: TSchema): boolean =>
    isInteger(field) || (IsUnion(field) && field.anyOf.some(isInteger));
  return new Set(fields.filter(([, field]) => may(field)).map(([name]) => name));
}

function withNumbers(query: unknown, names: ReadonlySet<string>): unknown {
  if (typeof query !== 'object' || query === null) return query;
  const asNumber = ([name, value]: [string, unknown]): [string, unknown] => {
    const isNumber = names.has(name) && typeof value === 'string' && /^\d{1,15}$/.test(value);
    return [name, isNumber ? Number(value) : value];
  };
  return Object.fromEntries(Object.entries(query).map(asNumber));
}

/** Describes the first problem in a sentence. */
function problemOf(schema: TSchema, value: unknown, httpPart: string | undefined): string {
  const place = places[httpPart ?? ''] ?? somewhere;
  const found = findSchemaProblem(schema, value);
  if (found === undefined) return `${place.whole} does not have the required form`;
  if (found.field !== '') return `${place.field} ${found.field} ${found.problem}`;
  return `${place.whole} ${found.problem.replace(/^must be an object$/, 'must be a JSON object')}`;
}

/** Whether the cursor of a list is the ID of its last row. */
const hasIdCursor = (schema: TSchema): boolean =>
  IsObject(schema) && schema.properties['cursor'] === idPageQuery.cursor;

const withLowerCursor = (query: unknown): unknown =>
  hasCursor(query) ? { ...query, cursor: query.cursor.toLowerCase() } : query;

const hasCursor = (query: unknown): query is { cursor: string } =>
  typeof query === 'object' && query !== null && 'cursor' in query && typeof query.cursor === 'string';

/**
 * Values are taken as they are: nothing is coerced, nothing is added, unknown fields are left alone. Only the numbers
 * of a query, which arrive as text, become numbers, and the ID that is the cursor of a list becomes lower-case, as IDs
 * of rows are.
 */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const getValidator = validatorOf(schema);
  const isQuery = httpPart === 'querystring';
  const numbers = isQuery ? listNumbers(schema) : new Set<string>();
  const isIdCursor = isQuery && hasIdCursor(schema);
  return (data: unknown) => {
    const value = numbers.size === 0 ? data : withNumbers(data, numbers);
    const validator = getValidator();
    if (validator.Check(value)) return { value: isIdCursor ? withLowerCursor(value) : value };
    const problem = problemOf(schema, value, httpPart);
    return { error: ApiError.of('invalid_request', { problem }) };
  };
};

/**
 * Compiles a schema of a contract when the first request needs it: all of them at the start of a server would take
 * most of its time. Servers of one process and routes with the same schema share the result.
 */
function lazily<Compiled>(compile: (schema: TSchema) => Compiled): (schema: TSchema) => () => Compiled {
  const compiled = new WeakMap<TSchema, Compiled>();
  return (schema) => () => {
    const found = compiled.get(schema) ?? compile(schema);
    compiled.set(schema, found);
    return found;
  };
}
