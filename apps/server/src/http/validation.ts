import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';

import { ApiError } from './api-error.ts';

interface SchemaError {
  keyword: string;
  instancePath: string;
  message: string;
  params: object;
}

const places: Record<string, { whole: string; field: string }> = {
  body: { whole: 'The body', field: 'Field' },
  querystring: { whole: 'The query', field: 'Query parameter' },
  params: { whole: 'The path', field: 'Path segment' },
  headers: { whole: 'The header', field: 'Header' },
};
const somewhere = { whole: 'The request', field: 'Field' };

/** `/device_ids/3` → `device_ids[3]`. */
function fieldName(instancePath: string): string {
  const segments = instancePath.split('/').slice(1);
  return segments
    .map((segment) => (/^\d+$/.test(segment) ? `[${segment}]` : `.${segment}`))
    .join('')
    .replace(/^\./, '');
}

function listed(params: object, key: string): string[] {
  const value: unknown = Object.entries(params).find(([name]) => name === key)?.[1];
  return Array.isArray(value) ? value.map(String) : [];
}

function fieldProblem(error: SchemaError): string {
  if (error.keyword === 'enum') return `must be one of ${listed(error.params, 'allowedValues').join(', ')}`;
  if (error.keyword === 'pattern') return 'does not have the required form';
  return error.message;
}

function missingFields(error: SchemaError, fieldWord: string): string {
  const parent = fieldName(error.instancePath);
  const names = listed(error.params, 'requiredProperties').map((name) =>
    parent ? `${parent}.${name}` : name,
  );
  return `${fieldWord} ${names.join(', ')} is required`;
}

/** The sentence for the first thing that is wrong. */
export function problemOf(errors: readonly SchemaError[], httpPart: string | undefined): string {
  const place = places[httpPart ?? ''] ?? somewhere;
  const error = errors[0];
  if (error === undefined) return `${place.whole} does not have the required form`;
  if (error.keyword === 'required') return missingFields(error, place.field);
  if (error.instancePath === '') return `${place.whole} must be a JSON object`;
  return `${place.field} ${fieldName(error.instancePath)} ${fieldProblem(error)}`;
}

/** Values are taken as they are: nothing is coerced, nothing is added, unknown fields are left alone. */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validator = Compile(schema);
  return (data: unknown) => {
    if (validator.Check(data)) return { value: data };
    const problem = problemOf(validator.Errors(data), httpPart);
    return { error: ApiError.of('invalid_request', { problem }) };
  };
};
