import { IsObject, type TSchema } from 'typebox';

import { isOfTypes, successStatusesOf, type RouteContract } from '../rest/contract.ts';
import { errorResponses } from './error-responses.ts';
import { exampleOf } from './example-of.ts';
import type { NamedSchemas } from './named-schemas.ts';

const successTexts: Record<number, string> = {
  101: 'The connection is a WebSocket from here on.',
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted; it is done by itself.',
  206: 'The part that was asked for.',
  304: 'It is still the version that `If-None-Match` names.',
};
const binaryTypes = new Set(['image/jpeg', 'application/gzip']);

function parameters(
  place: 'path' | 'query' | 'header',
  schema: TSchema | undefined,
  schemas: NamedSchemas,
): object[] {
  if (schema === undefined || !IsObject(schema)) return [];
  const required = new Set<string>(schema.required ?? []);
  return Object.entries(schema.properties).map(([name, field]) => ({
    name,
    in: place,
    required: required.has(name),
    ...('description' in field ? { description: field.description } : {}),
    schema: schemas.refer(field),
  }));
}

/** Bodies that are not JSON of ours, by content type. */
const otherContent = (types: readonly string[]): object =>
  Object.fromEntries(
    types.map((type) => [
      type,
      { schema: binaryTypes.has(type) ? {} : { type: type.includes('json') ? 'object' : 'string' } },
    ]),
  );

const jsonContent = (schema: TSchema, schemas: NamedSchemas, example: unknown): object => ({
  'application/json': { schema: schemas.refer(schema), example },
});

function requestBody({ body, bodyTypes, bodyExample }: RouteContract, schemas: NamedSchemas): object {
  if (bodyTypes !== undefined) return { requestBody: { required: true, content: otherContent(bodyTypes) } };
  if (body === undefined) return {};
  const content = jsonContent(body, schemas, bodyExample ?? exampleOf(body, 'body'));
  return { requestBody: { required: true, content } };
}

const successResponse = (
  status: number,
  schema: TSchema | readonly string[],
  schemas: NamedSchemas,
): object => ({
  description: successTexts[status] ?? 'Done.',
  content: isOfTypes(schema) ? otherContent(schema) : jsonContent(schema, schemas, exampleOf(schema, 'body')),
});

/** A contract as an operation of the OpenAPI document. */
export function operationOf(contract: RouteContract, schemas: NamedSchemas): object {
  const successes = successStatusesOf(contract).map((status): [string, object] => [
    String(status),
    successResponse(status, contract.responses[status] ?? [], schemas),
  ]);
  return {
    operationId: contract.operationId,
    tags: [contract.tag],
    summary: contract.summary,
    ...(contract.description === undefined ? {} : { description: contract.description }),
    ...(contract.scope === null ? { security: [] } : {}),
    parameters: [
      ...parameters('path', contract.params, schemas),
      ...parameters('query', contract.query, schemas),
      ...parameters('header', contract.headers, schemas),
    ],
    ...requestBody(contract, schemas),
    responses: { ...Object.fromEntries(successes), ...errorResponses(contract, schemas) },
  };
}
